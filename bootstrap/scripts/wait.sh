#!/bin/bash
# wait.sh MILESTONE SECONDS: waits here, on the machine, until its bootstrap has reached "prepared", "joinable" or "initialized".
# Ends with the failed step and the last lines of the log as soon as the bootstrap has failed.
# shellcheck source=bootstrap/scripts/lib.sh
source /usr/local/lib/kubicorn/lib.sh
milestone=$1
began=$(seconds_up)

explain() {
  local disks
  # Two who wait tell the same; whoever comes later tries again first.
  : >"$run/told"
  disks=$(full_disks)
  printf '%s\n' "$1" ${disks:+"$disks"} >&2
  [[ -e $log ]] && show_end "$log"
  exit 1
}

# cloud_init_ended: whether cloud-init has nothing more to do in this boot; our image runs all of it in its first stage.
cloud_init_ended() {
  [[ -e /run/cloud-init/result.json ]] || systemctl is-failed --quiet cloud-init.service ||
    { systemctl is-active --quiet cloud-init.service && ! systemctl is-enabled --quiet cloud-final.service; }
}

# older_than SECONDS FILE: whether the file is there and that old.
older_than() { [[ -e $2 ]] && (($(date +%s) - $(stat --format %Y "$2") > $1)); }

# failure_is_told: whether the bootstrap has ended in a failure that an earlier run has told. Those who wait in one run
# are told within a second of each other; a run begins seconds after the one before it.
failure_is_told() {
  local word rest
  read -r word rest 2>/dev/null <"$run/status" || word=none
  case $word in
    running) ! kill -0 "${rest%% *}" 2>/dev/null && older_than 10 "$run/told" ;;
    failed) older_than 10 "$run/told" || older_than 60 "$run/status" ;;
    *) older_than 10 "$run/told" ;;
  esac
}

# Someone has mended its cause and tries again. Of those who wait side by side only the first starts it.
exec 8>"$run/restart.lock"
flock 8
if ! is_done "$milestone" && failure_is_told; then
  rm --force "$run/told" "$run/status"
  systemctl restart --no-block kubicorn-bootstrap.service || true
fi
exec 8>&-

unstarted=0
until is_done "$milestone"; do
  read -r word rest 2>/dev/null <"$run/status" || word=none
  case $word in
    failed)
      explain "the bootstrap failed at: $rest"
      ;;
    running)
      # One script ends before the next one begins, so only a lasting absence tells.
      if ! kill -0 "${rest%% *}" 2>/dev/null && sleep 0.5 && [[ $(<"$run/status") == "running $rest" ]]; then
        is_done "$milestone" || explain "the bootstrap was ended from outside at: ${rest#* }"
      fi
      ;;
    none)
      if (($(seconds_up) - began >= 3)) && cloud_init_ended && ((++unstarted > 20)); then
        log=/var/log/cloud-init-output.log
        explain "cloud-init ended and did not start the bootstrap"
      fi
      ;;
  esac
  (($(seconds_up) - began < $2)) || explain "the bootstrap did not get to \"$milestone\" within $2 s"
  sleep 0.1
done
