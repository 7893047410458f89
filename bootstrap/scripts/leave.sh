#!/bin/bash
# Takes away what membership in a cluster left on this machine; the machine itself stays prepared for another join.
# shellcheck source=bootstrap/scripts/lib.sh
source /usr/local/lib/kubicorn/lib.sh
systemctl stop kubicorn-pod-network.service
kubeadm reset --force --cleanup-tmp-dir
# kubeadm leaves the pod network to others: its configuration, addresses given to pods, and interfaces of ptp.
rm --recursive --force /etc/cni/net.d/10-kubicorn.conflist /run/flannel /run/kubicorn-pod-addresses
ip -oneline link show type veth | sed --quiet 's/^[0-9]*: \(veth[^@:]*\).*/\1/p' | xargs --no-run-if-empty --max-args 1 ip link delete
systemctl start --no-block kubicorn-pod-network.service
