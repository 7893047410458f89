#!/bin/bash
# bare.sh IMAGE ADDRESS-PREFIX: a cluster of one control plane and two workers by bare commands, on the machine image that
# `npm run up` uses: machines started side by side, kubeadm init, joins side by side, pod network, all nodes Ready.
# Prints the seconds that took, and removes everything. The baseline that "up to all nodes Ready" is measured against.
set -euo pipefail
image=$1
prefix=${2:-10.99.250}
name=kubicorn-bench-$$
work=$(mktemp -d)
machines=()

cleanup() {
  for machine in "${machines[@]}"; do podman rm --force --volumes --time 0 "$machine" >/dev/null 2>&1 || true; done
  podman network rm --force "$name" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT

say() { awk -v from="$began" -v to="$EPOCHREALTIME" -v what="$1" 'BEGIN { printf "%6.1f s  %s\n", to - from, what }' >&2; }
