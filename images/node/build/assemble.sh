#!/bin/sh
# Makes a machine of a Debian container that has the packages, once, while the machine image is built.
# assemble.sh PROGRAMS KUBERNETES_VERSION FLANNEL_IMAGE HELLO_IMAGE
# PROGRAMS is a folder with either the programs that were built here, or the official ones and container images.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
programs=$1

# Files of our own, with the same permissions whatever the umask was where they were checked out.
cp -R "$here/../rootfs/." /
(cd "$here/../rootfs" && find . -mindepth 1) | while read -r path; do
  chmod u=rwX,go=rX "/$path"
done
chmod 755 /var/lib/cloud/scripts/per-boot/*

# One file is every program of a machine where it was built here; official ones are files of their own.
mkdir -p /usr/local/bin /opt/cni/bin /etc/cni/net.d /usr/lib/kubicorn
for program in kubeadm kubelet kubectl; do
  if [ -e "$programs/kubernetes" ]; then
    [ -e /usr/local/bin/kubernetes ] || install -m 755 "$programs/kubernetes" /usr/local/bin/kubernetes
    ln -sf kubernetes "/usr/local/bin/$program"
  else
    install -m 755 "$programs/$program" "/usr/local/bin/$program"
  fi
done
for plugin in /usr/lib/cni/*; do
  ln -sf "$plugin" "/opt/cni/bin/${plugin##*/}"
done

# Where the data of the first boot is put before it: not in /var itself, which an engine fills only when the machine starts.
mkdir -p /etc/kubicorn/first-boot
chmod 700 /etc/kubicorn/first-boot
mkdir -p /var/lib/cloud/seed
ln -s /etc/kubicorn/first-boot /var/lib/cloud/seed/nocloud

sh "$here/units.sh"
sh "$here/container-images.sh" "$@"

# What differs from machine to machine is made at its first boot.
rm -rf /etc/ssh/ssh_host_* /var/lib/dbus/machine-id /run/containerd
: > /etc/machine-id
ln -s /etc/machine-id /var/lib/dbus/machine-id

# Python is to start fast: every module compiled, and none looked at again for a newer time stamp.
python3 -m compileall -q -f --invalidation-mode unchecked-hash -j 0 /usr/lib/python3 /usr/lib/python3.11

# /var is copied for every machine, so it holds as little as possible. The package database stays, aside.
rm -rf /usr/share/doc /usr/share/man /usr/share/info /usr/share/locale /var/cache/* /var/log/* /var/lib/apt/lists/* \
  /var/lib/systemd/catalog/database /var/lib/cloud/instances
mv /var/lib/dpkg /usr/lib/kubicorn/dpkg
ln -s /usr/lib/kubicorn/dpkg /var/lib/dpkg
