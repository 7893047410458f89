#!/bin/bash
# join.sh ENDPOINT_ADDRESS <DISCOVERY_FILE: joins the cluster whose API endpoint has that address. The discovery file on
# standard input is a kubeconfig with the cluster's CA and a token for this one join; it never is on a disk.
# shellcheck source=bootstrap/scripts/lib.sh
source /usr/local/lib/kubicorn/lib.sh
# One at a time, and the newest: a run that was cut off may still have its join going here, with a token that is gone.
lock=/run/kubicorn-join.lock
exec 9>"$lock"
if ! flock --nonblock 9; then
  for process in /proc/[0-9]*; do
    if [[ $process != "/proc/$$" && $(readlink "$process/fd/9" || true) == "$lock" ]]; then
      kill "${process#/proc/}" || true
    fi
  done 2>/dev/null
  flock --timeout 30 9
fi
discovery=/run/kubicorn-discovery.conf
(umask 077 && cat >"$discovery")
trap 'rm --force "$discovery"' EXIT

"$library/wait.sh" prepared 900
# A machine that was a member before starts anew: kubelet registers its node only once.
if [[ -e /etc/kubernetes/kubelet.conf ]]; then
  "$library/leave.sh" >&2
fi
write_endpoint "$1"

ignored=()
[[ -e /sys/fs/cgroup/cgroup.controllers ]] || ignored=(--ignore-preflight-errors=SystemVerification)
# kubeadm looks once a second whether kubelet has its certificate; the loop below sees it sooner.
if ! kubeadm join --config "$settings/kubeadm.yaml" "${ignored[@]}" --skip-phases kubelet-wait-bootstrap >>"$log" 2>&1; then
  show_end "$log"
  exit 1
fi

# The token must live until then.
looks=0
deadline=$((SECONDS + 240))
until [[ -e /var/lib/kubelet/pki/kubelet-client-current.pem ]]; do
  if ((++looks % 20 == 0)) && complaint=$(kubelet_keeps_ending); then
    printf 'kubelet does not run on this machine; it says:\n%s\n' "$complaint" >&2
    exit 1
  fi
  if ((SECONDS > deadline)); then
    echo "kubelet got no certificate within 240 s; the last lines of its journal:" >&2
    journalctl --unit kubelet.service --lines 20 --no-pager --output cat >&2
    exit 1
  fi
  sleep 0.1
done
rm --force /etc/kubernetes/bootstrap-kubelet.conf
