#!/bin/bash
# Brings up the machine's part of the cluster after prepare.sh. Runs at every boot, and does what is not done yet.
# shellcheck source=bootstrap/scripts/lib.sh
source /usr/local/lib/kubicorn/lib.sh
log_to_file

if [[ $ROLE == control-plane ]]; then
  "$library/initialize-control-plane.sh"
fi
say "done"
write_status "done"
