#!/bin/bash
# wait.sh MILESTONE SECONDS: waits here, on the machine, until its bootstrap has reached "prepared", "joinable" or "initialized".
# Ends with the failed step and the last lines of the log as soon as the bootstrap has failed.
# shellcheck source=bootstrap/scripts/lib.sh
source /usr/local/lib/kubicorn/lib.sh
milestone=$1
deadline=$((SECONDS + $2))

explain() {
  printf '%s\n' "$1" >&2
  [[ -e $log ]] && tail --lines 20 "$log" >&2
  exit 1
}

# A failure that an earlier run has told: someone has mended its cause and tries again.
read -r word _ 2>/dev/null <"$state/status" || word=none
if [[ $word == failed ]] && (($(date +%s) - $(stat --format %Y "$state/status") > 60)); then
  systemctl restart kubicorn-bootstrap.service
fi

until is_done "$milestone"; do
  read -r word rest 2>/dev/null <"$state/status" || word=none
  case $word in
    failed)
      explain "the bootstrap failed at: $rest"
      ;;
    running)
      # One script ends before the next one begins, so only a lasting absence tells.
      if ! kill -0 "${rest%% *}" 2>/dev/null && sleep 0.5 && [[ $(<"$state/status") == "running $rest" ]]; then
        is_done "$milestone" || explain "the bootstrap was ended from outside at: ${rest#* }"
      fi
      ;;
    none)
      if [[ -e /run/cloud-init/result.json ]] && (($(date +%s) - $(stat --format %Y /run/cloud-init/result.json) > 5)); then
        log=/var/log/cloud-init-output.log
        explain "cloud-init ended and did not start the bootstrap"
      fi
      ;;
  esac
  ((SECONDS < deadline)) || explain "the bootstrap did not get to \"$milestone\" within $2 s"
  sleep 0.1
done
