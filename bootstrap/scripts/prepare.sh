#!/bin/bash
# Prepares the machine for kubelet and kubeadm. Runs at every boot before kubelet does, and changes only what is not right yet.
# shellcheck source=bootstrap/scripts/lib.sh
source /usr/local/lib/kubicorn/lib.sh
step="preparing the machine: disk space"
log_to_file
begin "$step"
problem=$(full_disks)
if [[ -n $problem ]]; then
  say "$problem"
  exit 1
fi

begin "preparing the machine: host name and addresses"
address=$(own_address)
if [[ $ROLE == control-plane ]]; then
  write_endpoint "$address"
elif [[ -e $settings/endpoint-address ]]; then
  write_endpoint "$(<"$settings/endpoint-address")"
fi
printf "KUBELET_EXTRA_ARGS='--node-ip=%s'\n" "$address" >/etc/default/kubelet

begin "preparing the machine: kernel and swap"
set_kernel() {
  local file=/proc/sys/${1//.//}
  [[ $(<"$file") == "$2" ]] && return
  printf '%s' "$2" >"$file"
  in_container || printf '%s = %s\n' "$1" "$2" >"/etc/sysctl.d/90-kubicorn-$1.conf"
}
set_kernel net.ipv4.ip_forward 1
if ! in_container; then
  modprobe --all overlay br_netfilter
  swapoff --all
  sed --in-place '/^[^#].*\sswap\s/s/^/# kubicorn: /' /etc/fstab
fi

begin "preparing the machine: container runtime and kubelet"
# A pod that dials a Service before kube-proxy has made its rules hangs for half a minute, so no pod
# network until pod-network.sh has seen both its parts run; an old one of before a reboot would not wait.
rm --force /etc/cni/net.d/10-kubicorn.conflist
if ! systemctl is-active --quiet containerd.service && ! systemctl start containerd.service; then
  journal_end containerd.service
  exit 1
fi
if ! found=$(kubeadm version --output short 2>&1); then
  say "kubeadm does not run on this machine: $found"
  exit 1
fi
if [[ $found != "v$KUBERNETES_VERSION" ]]; then
  say "kubeadm v$KUBERNETES_VERSION is needed, but this machine's image has $found"
  exit 1
fi

# What kubelet must be told about this machine alone goes into a kubeadm patch.
mkdir -p "$settings/patches"
driver=cgroupfs
grep --quiet --extended-regexp '^\s*SystemdCgroup\s*=\s*true' /etc/containerd/config.toml && driver=systemd
fail_on_cgroup_v1=true
[[ -e /sys/fs/cgroup/cgroup.controllers ]] || fail_on_cgroup_v1=false
printf '{"cgroupDriver": "%s", "failCgroupV1": %s, "failSwapOn": %s}\n' \
  "$driver" "$fail_on_cgroup_v1" "$(in_container && echo false || echo true)" \
  >"$settings/patches/kubeletconfiguration0+merge.json"
mark_done prepared
