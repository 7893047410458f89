#!/bin/bash
# kubeconfig.sh [SECONDS]: waits here, on the machine, until its cluster serves, then prints the administrator's kubeconfig.
# shellcheck source=bootstrap/scripts/lib.sh
source /usr/local/lib/kubicorn/lib.sh
"$library/wait.sh" joinable "${1:-900}"
cat /etc/kubernetes/admin.conf
