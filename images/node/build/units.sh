#!/bin/sh
# Which systemd units a machine has: only those that it needs, since every unit costs time at each start.
set -eu

# Devices, modules, clocks, disks and consoles belong to the computer, not to a machine that is a container on it.
systemctl mask --quiet \
  apt-daily-upgrade.timer apt-daily.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer \
  console-getty.service getty.target getty@tty1.service \
  dev-hugepages.mount dev-mqueue.mount sys-fs-fuse-connections.mount sys-kernel-config.mount sys-kernel-debug.mount \
  sys-kernel-tracing.mount proc-sys-fs-binfmt_misc.automount systemd-binfmt.service \
  kmod-static-nodes.service systemd-modules-load.service systemd-pcrphase.service systemd-pcrphase-sysinit.service \
  systemd-pstore.service systemd-random-seed.service systemd-repart.service systemd-sysctl.service \
  systemd-firstboot.service systemd-hwdb-update.service systemd-logind.service systemd-networkd.service \
  systemd-timesyncd.service systemd-tmpfiles-setup-dev.service systemd-udev-trigger.service systemd-udevd.service \
  systemd-udevd-control.socket systemd-udevd-kernel.socket systemd-update-utmp.service \
  systemd-update-utmp-runlevel.service systemd-ask-password-console.path systemd-ask-password-wall.path \
  systemd-journal-flush.service systemd-initctl.socket systemd-journald-audit.socket systemd-machine-id-commit.service \
  systemd-sysusers.service systemd-update-done.service nftables.service remote-fs.target \
  cryptsetup.target integritysetup.target veritysetup.target \
  cloud-init-local.service cloud-config.service cloud-init-hotplugd.socket

# A generator is a process more before the first unit starts; none of these has anything to find here.
mkdir -p /etc/systemd/system-generators
for generator in /lib/systemd/system-generators/*; do
  ln -sf /dev/null "/etc/systemd/system-generators/${generator##*/}"
done

systemctl disable --quiet ssh.service cloud-final.service
systemctl enable --quiet cloud-init.service cloud-final.timer containerd.service kubelet.service
systemctl set-default --quiet multi-user.target
