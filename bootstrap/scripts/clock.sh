#!/bin/bash
# clock.sh SECONDS: compares this machine's clock with that of whoever waits for it, given in seconds since 1970.
# Certificates made or checked by a clock that is off are not valid; Kubernetes tells that late and not in these words.
set -euo pipefail
read -r began _ </proc/uptime

# off: how many seconds this clock is ahead; what it took to get here is behind by nature.
off() {
  local now
  read -r now _ </proc/uptime
  echo $(($(date +%s) - $1 - (${now%.*} - ${began%.*})))
}

# More than the way of the question takes over a slow network, and less than any certificate's tolerance.
limit=60
# A machine that has just booted may be about to set its clock.
for _ in {1..40}; do
  ahead=$(off "$1")
  if ((ahead <= limit && -ahead <= limit)); then exit 0; fi
  sleep 0.25
done
direction="ahead of"
if ((ahead < 0)); then direction=behind; fi
away=$((ahead < 0 ? -ahead : ahead))
echo "this machine's clock is $((away / 3600)) h $((away % 3600 / 60)) min $((away % 60)) s $direction the clock of the computer that makes the cluster" >&2
echo "(at most $limit s is allowed, since certificates depend on it). Set the clock that is wrong, as by a time service, and run again." >&2
exit 1
