#!/bin/bash
# join-information.sh [SECONDS]: waits here, on the machine, until others can join its cluster, then prints what they need
# as JSON. Ends with the failed step and the last lines of the log as soon as the bootstrap has failed.
# shellcheck source=bootstrap/scripts/lib.sh
source /usr/local/lib/kubicorn/lib.sh
"$library/wait.sh" joinable "${1:-900}"

certificate=/etc/kubernetes/pki/ca.crt
hash=$(openssl x509 -in "$certificate" -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -r)
printf '{"caHash": "sha256:%s", "caCertificate": "%s"}\n' "${hash%% *}" "$(awk '{printf "%s\\n", $0}' "$certificate")"
