#!/bin/bash
# kubeconfig.sh [SECONDS]: waits here, on the machine, until its cluster serves, then prints the administrator's kubeconfig.
# shellcheck source=bootstrap/scripts/lib.sh
source /usr/local/lib/kubicorn/lib.sh
# Why a bootstrap failed is told where it is waited for, once.
if ! "$library/wait.sh" joinable "${1:-900}" 2>/dev/null; then
  echo "the control plane did not come up; the join information says why" >&2
  exit 1
fi
cat /etc/kubernetes/admin.conf
