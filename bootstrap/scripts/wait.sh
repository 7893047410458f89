#!/bin/bash
# wait.sh MILESTONE SECONDS: waits here, on the machine, until its bootstrap has reached "prepared", "joinable" or "initialized".
# Ends with the failed step and the last lines of the log as soon as the bootstrap has failed.
# shellcheck source=bootstrap/scripts/lib.sh
source /usr/local/lib/kubicorn/lib.sh
milestone=$1
deadline=$((SECONDS + $2))

explain() {
  printf '%s\n' "$1" >&2
  [[ -e $log ]] && show_end "$log"
  exit 1
}

# cloud_init_ended: whether cloud-init has nothing more to do in this boot; our image runs all of it in its first stage.
cloud_init_ended() {
  [[ -e /run/cloud-init/result.json ]] || systemctl is-failed --quiet cloud-init.service ||
    { systemctl is-active --quiet cloud-init.service && ! systemctl is-enabled --quiet cloud-final.service; }
}

# A failure that an earlier run has told: someone has mended its cause and tries again.
read -r word _ 2>/dev/null <"$state/status" || word=none
if [[ $word == failed ]] && (($(date +%s) - $(stat --format %Y "$state/status") > 60)); then
  systemctl restart kubicorn-bootstrap.service
fi

unstarted=0
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
      if ((SECONDS >= 3)) && cloud_init_ended && ((++unstarted > 20)); then
        log=/var/log/cloud-init-output.log
        explain "cloud-init ended and did not start the bootstrap"
      fi
      ;;
  esac
  ((SECONDS < deadline)) || explain "the bootstrap did not get to \"$milestone\" within $2 s"
  sleep 0.1
done
