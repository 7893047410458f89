/**
 * The exit codes of the command. Verbs that hand on to Pulumi end with Pulumi's own code.
 */
export const exitCodes = {
  done: 0,
  failed: 1,
  notUnderstood: 2,
  rolledBack: 3,
  partlyRolledBack: 4,
  differs: 5,
} as const;

/** For the help: each code with what it means. */
export const exitCodeTexts: readonly (readonly [string, string])[] = [
  ["0", "done; also where nothing was to do"],
  ["1", "failed: nothing was changed, or what was made stays for the next run (--policy keep)"],
  ["2", "the command line is not understood; nothing was begun"],
  ["3", "failed, and everything stands as it did before"],
  ["4", "failed, and not everything could be undone"],
  ["5", "explain --exit-code: apply would do something"],
  ["129", "interrupted by a closed terminal; 130 by Ctrl-C; 143 by SIGTERM"],
];
