#!/bin/bash
# update-kubelet.sh SETTINGS: gives this machine's kubelet those fields of KubeletConfiguration (JSON), over the cluster's own.
# Sent on standard input, so that it works on machines of any age. What kubelet refuses is put back and told in its words.
# shellcheck source=bootstrap/scripts/lib.sh
source /usr/local/lib/kubicorn/lib.sh
wanted=$1
patch=$settings/patches/kubeletconfiguration1+merge.json
configuration=/var/lib/kubelet/config.yaml
# What is put back when kubelet refuses. It is there only while an update is under way, also one that was cut off.
former=$state/former-kubelet

keep_former() {
  [[ -d $former ]] && return
  rm --recursive --force "$former.new"
  mkdir "$former.new"
  cp --preserve "$configuration" "$former.new/config.yaml"
  if [[ -e $patch ]]; then cp --preserve "$patch" "$former.new/patch.json"; fi
  mv "$former.new" "$former"
}

write_patch() {
  mkdir --parents "$settings/patches"
  printf '%s\n' "$wanted" >"$settings/kubelet-settings.new"
  mv "$settings/kubelet-settings.new" "$patch"
}

# restart_kubelet: starts kubelet with its present configuration, and fails when it ends again or does not get healthy.
restart_kubelet() {
  local deadline=$((SECONDS + 60)) healthy_since=''
  systemctl reset-failed kubelet.service 2>/dev/null || true
  systemctl restart kubelet.service
  while ((SECONDS < deadline)); do
    if (($(systemctl show kubelet.service --property NRestarts --value) > 0)); then
      return 1
    elif ! curl --silent --fail --output /dev/null --max-time 5 http://127.0.0.1:10248/healthz; then
      healthy_since=''
    elif ((SECONDS - ${healthy_since:=$SECONDS} >= 3)); then
      # Some settings it tries only after it has begun to serve.
      return 0
    fi
    sleep 0.2
  done
  return 1
}

# words_of_kubelet CURSOR: its last complaint before it ended; where it did not end, its last lines.
words_of_kubelet() {
  local lines complaint
  lines=$(journalctl --unit kubelet.service --after-cursor "$1" --output cat --no-pager)
  # Without the time, process and line of source that an error begins with. Some settings it panics about.
  complaint=$(awk '
    /Main process exited/ { print last; exit }
    /^[EF][0-9][0-9][0-9][0-9] / { sub(/^[^\]]*\] /, ""); last = $0 }
    /^panic: / { last = $0 }' <<<"$lines")
  if [[ $complaint ]]; then
    printf '%s\n' "$complaint"
  else
    tail --lines 5 <<<"$lines"
  fi
}

put_back() {
  cp --preserve "$former/config.yaml" "$configuration"
  if [[ -e $former/patch.json ]]; then mv "$former/patch.json" "$patch"; else rm --force "$patch"; fi
  if restart_kubelet; then
    echo "Its former settings are in force again." >&2
  else
    echo "Its former settings were put back, and it does not start with them either." >&2
  fi
  rm --recursive --force "$former"
}

main() {
  exec 9>/run/kubicorn-kubelet.lock
  flock --timeout 150 9
  # Not a member yet: kubeadm applies the patch when it joins.
  if [[ ! -e $configuration ]]; then
    write_patch
    return
  fi
  if [[ ! -d $former && $(cat "$patch" 2>/dev/null || echo '{}') == "$wanted" ]]; then
    return
  fi
  keep_former
  write_patch
  local output cursor
  if ! output=$(kubeadm upgrade node phase kubelet-config --patches "$settings/patches" 2>&1); then
    printf 'kubeadm did not write the settings; it says:\n%s\n' "$output" >&2
    put_back
    exit 1
  fi
  rm --recursive --force /etc/kubernetes/tmp/kubeadm-kubelet-config*
  cursor=$(journalctl --unit kubelet.service --lines 0 --show-cursor --quiet | sed --quiet 's/^-- cursor: //p')
  if ! restart_kubelet; then
    printf 'kubelet does not run with these settings; it says:\n%s\n' "$(words_of_kubelet "$cursor")" >&2
    put_back
    exit 1
  fi
  rm --recursive --force "$former"
}

main
