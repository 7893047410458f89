/**
 * The scripts with which shells complete the command. Each asks the command itself: the first line of the answer says which
 * paths the shell completes besides, and each further one is a word, a tab, and what the word is for.
 */
export const completionScripts = {
  bash: `# bash completion of kubicorn
_kubicorn() {
  local told paths word current=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  told=$("\${COMP_WORDS[0]}" completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) || return
  # Bash takes an option and its value apart at the equals sign.
  [ "$current" != "=" ] || current=
  {
    IFS= read -r paths
    while IFS=$'\\t' read -r word _; do
      COMPREPLY+=("$(printf '%q' "$word")")
    done
  } <<<"$told"
  case $paths in
    file) paths=-f ;;
    folder) paths=-d ;;
    *) return ;;
  esac
  compopt -o filenames 2>/dev/null
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(compgen "$paths" -- "$current")
}
complete -F _kubicorn kubicorn
`,
  zsh: `#compdef kubicorn
_kubicorn() {
  local -a told choices
  local line
  told=("\${(@f)$("\${words[1]}" completion zsh -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "\${(@)told[2,-1]}"; do
    choices+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  compset -P '--*='
  (( $#choices )) && _describe kubicorn choices
  case $told[1] in
    file) _files ;;
    folder) _files -/ ;;
  esac
}
if [ "$funcstack[1]" = _kubicorn ]; then
  _kubicorn "$@"
else
  compdef _kubicorn kubicorn
fi
`,
  fish: `# fish completion of kubicorn
function __kubicorn_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l told ($words[1] completion fish -- $words[2..-1] "$current" 2>/dev/null)
    or return
    set -l begun (string match -r -- '^--[^=]+=' "$current")
    set -l rest (string replace -r -- '^--[^=]+=' '' "$current")
    for line in $told[2..-1]
        printf '%s%s\\n' "$begun" $line
    end
    switch $told[1]
        case file
            printf '%s\\n' "$begun"(__fish_complete_path "$rest")
        case folder
            printf '%s\\n' "$begun"(__fish_complete_directories "$rest" '')
    end
end
complete -c kubicorn -f -a '(__kubicorn_complete)'
`,
} as const;
