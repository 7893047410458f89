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

"$library/wait.sh" prepared "${2:-900}"
# A machine that was a member before starts anew, since kubelet registers its node only once; and one whose join was cut
# off, at whatever point, since kubeadm refuses to go on with what it finds.
if [[ -e /etc/kubernetes/kubelet.conf || -e /etc/kubernetes/bootstrap-kubelet.conf || -e /etc/kubernetes/pki/ca.crt ]]; then
  "$library/leave.sh" >&2
fi
write_endpoint "$1"

# fail MESSAGE: ends the join with a sentence.
fail() {
  printf '%s\n' "$1" >&2
  exit 1
}

# ask_api [OPTION...]: asks the API as the join will, trusting its CA only. Answers with the HTTP status, or with what
# curl says and its exit code.
ask_api() {
  local authority status=0
  authority=$(sed --quiet 's/^ *certificate-authority-data:[ ]*//p' "$discovery" | base64 --decode)
  answer=$(curl --silent --show-error --noproxy '*' --max-time 8 --output /dev/null --write-out '%{http_code}' \
    --cacert <(printf '%s\n' "$authority") "$@" "$endpoint/api/v1/namespaces/kube-system/configmaps/kubeadm-config" 2>&1) ||
    status=$?
  # What follows the first line is curl's advice.
  answer=${answer%%$'\n'*}
  answer=${answer#curl: }
  return "$status"
}

# token_is_unknown: whether the API refuses the token, which is on no command line. Only for after a failure: the API
# remembers for seconds that it did not know a token, also one that was made just before.
token_is_unknown() {
  local token
  token=$(sed --quiet 's/^ *token:[ ]*//p' "$discovery")
  ask_api --header @<(printf 'Authorization: Bearer %s\n' "$token") && [[ $answer == 401 ]]
}

# kubeadm tries for minutes what cannot succeed, and tells nothing meanwhile. Any answer will do here.
endpoint=https://$ENDPOINT_NAME:$ENDPOINT_PORT
began=$(seconds_up)
until ask_api; do
  case $? in
    60) fail "the API at $endpoint ($1) is not that of this cluster: its CA did not sign what answers there ($answer)" ;;
  esac
  if (($(seconds_up) - began > 20)); then
    fail "the API at $endpoint ($1) cannot be reached from here: $answer. See what keeps them apart, as a firewall"
  fi
  sleep 0.5
done

ignored=()
[[ -e /sys/fs/cgroup/cgroup.controllers ]] || ignored=(--ignore-preflight-errors=SystemVerification)
# kubeadm looks once a second whether kubelet has its certificate; the loop below sees it sooner.
kubeadm join --config "$settings/kubeadm.yaml" "${ignored[@]}" --skip-phases kubelet-wait-bootstrap >>"$log" 2>&1 &
joining=$!
# It tries a token that is gone for minutes. By then the API has forgotten that it did not know a new one.
{ sleep 15 && token_is_unknown && kill "$joining"; } 9>&- </dev/null >/dev/null 2>&1 &
watching=$!
if ! wait "$joining"; then
  full_disks >&2
  if token_is_unknown; then
    echo "the API at $endpoint ($1) does not know the token of this join: it has expired or was deleted" >&2
  fi
  echo "kubeadm join failed; the last lines of the log:" >&2
  show_end "$log"
  exit 1
fi
kill "$watching" || true

# The token must live until then.
looks=0
deadline=$(($(seconds_up) + 240))
until [[ -e /var/lib/kubelet/pki/kubelet-client-current.pem ]]; do
  if ((++looks % 20 == 0)) && complaint=$(kubelet_keeps_ending); then
    full_disks >&2
    printf 'kubelet does not run on this machine; it says:\n%s\n' "$complaint" >&2
    exit 1
  fi
  if (($(seconds_up) > deadline)); then
    full_disks >&2
    echo "kubelet got no certificate within 240 s" >&2
    journal_end kubelet.service >&2
    exit 1
  fi
  sleep 0.1
done
rm --force /etc/kubernetes/bootstrap-kubelet.conf
