# shellcheck shell=bash
# Sourced by the scripts of a machine: its data, named steps, the status file and the log.
set -Eeuo pipefail
umask 022

# shellcheck disable=SC2034 # used by the scripts that source this file
library=/usr/local/lib/kubicorn
settings=/etc/kubicorn
state=/var/lib/kubicorn
# Of this boot only, and in memory: it can be written when the disk is full, and a reboot leaves nothing that is untrue.
run=/run/kubicorn
log=/var/log/kubicorn-bootstrap.log
step="reading the machine's data"

# The machine's data: shell-quoted KEY='value' lines.
# shellcheck source=/dev/null
source "$settings/machine.env"

mkdir -p "$run/done" 2>/dev/null || true

# log_to_file: from here on, all output goes to the log, and an end with an error is recorded as the failed step.
log_to_file() {
  trap 'record_end $?' EXIT
  write_status "running $$ $step"
  mkdir -p "$state/done"
  exec >>"$log" 2>&1
}

# begin STEP: names what is done from here on, for the log and for whoever waits for this machine.
begin() {
  step=$1
  say "$step"
  write_status "running $$ $step"
}

# say MESSAGE: a line of the log with the time in UTC, to the millisecond.
say() {
  local now=$EPOCHREALTIME
  # A full disk takes no more lines; that is no reason to end here.
  TZ=UTC0 printf '%(%FT%T)T.%sZ %s\n' "${now%[.,]*}" "${now: -6:3}" "$1" 2>/dev/null || true
}

# write_status TEXT: replaces the status file as a whole, so that a reader never sees half of it.
write_status() {
  printf '%s\n' "$1" >"$run/status.$$"
  mv "$run/status.$$" "$run/status"
}

record_end() {
  # A script that this one called has told it better.
  if (($1 != 0)) && [[ $(<"$run/status") != failed* ]]; then
    say "failed with exit code $1: $step"
    if (($1 == 137)); then say "it was killed (SIGKILL), as the kernel does where memory ends"; fi
    write_status "failed $step"
  fi
}

# full_disks: a sentence for each file system of the machine's that is full: whatever else fails then is its consequence.
full_disks() {
  local available used place
  while read -r available used place; do
    if ((available < 16)); then
      printf 'the disk is full: %s has %s MiB left (%s used); make room there\n' "$place" "$available" "$used"
    fi
  done < <(df --block-size=1M --output=avail,pcent,target / /etc /run /tmp /var /var/log "$state" /var/lib/containerd \
    /var/lib/etcd /var/lib/kubelet 2>/dev/null | tail --lines +2 | sort --unique)
}

# journal_end UNIT: the last lines of a unit's journal.
journal_end() {
  echo "the last lines of the journal of $1:"
  journalctl --unit "$1" --lines 15 --no-pager --output cat
}

# seconds_up: seconds of a clock that nobody sets.
seconds_up() {
  local seconds
  read -r seconds _ </proc/uptime
  echo "${seconds%.*}"
}

# show_end FILE: the last lines of a log on standard error, without colours, tables of addresses, and what kubeadm says in
# any case or says again in its own error.
show_end() {
  sed 's/\x1b\[[0-9;]*m//g' "$1" | grep --invert-match --extended-regexp "$noise" | tail --lines 20 >&2
}
noise='^ci-info:|^(CGROUPS|CONFIG|KERNEL)_|^OS: |ContainerRuntimeVersion\]|"RuntimeConfig from runtime service failed"|WARNING SystemVerification|"PullImage from image service failed"|If you know what you are doing'
noise+='|^To see the stack trace|This might take a minute|perform this action beforehand'


# is_done STEP and mark_done STEP: what happens once in a machine's life; "prepared", once in each boot.
is_done() { [[ -e $(mark_of "$1") ]]; }
mark_done() { : >"$(mark_of "$1")"; }
mark_of() { if [[ $1 == prepared ]]; then echo "$run/done/$1"; else echo "$state/done/$1"; fi; }

# kubelet_keeps_ending: whether kubelet has ended again and again, as it does with settings that it refuses; prints its complaint.
kubelet_keeps_ending() {
  local restarts
  restarts=$(systemctl show kubelet.service --property NRestarts --value)
  ((${restarts:-0} >= 3)) || return 1
  # Its last error before it ended, without the time, process and line of source that it begins with. Some it panics about.
  journalctl --unit kubelet.service --lines 500 --no-pager --output cat | awk '
    /^[EF][0-9][0-9][0-9][0-9] / { sub(/^[^\]]*\] /, ""); last = $0 }
    /^panic: / { last = $0 }
    /Main process exited/ && last { said = last; last = "" }
    END { print said; exit said == "" }' || journal_end kubelet.service
}

# in_container: whether this machine shares its kernel with the computer it runs on.
in_container() { systemd-detect-virt --quiet --container; }

# own_address: the address that other machines reach this one by: that of the interface of the default route.
own_address() {
  ip -4 -oneline route get 192.0.2.1 | sed --quiet 's/.* src \([0-9.]*\).*/\1/p'
}

# write_endpoint ADDRESS: makes the API endpoint's name mean that address on this machine.
write_endpoint() {
  local line="$1 $ENDPOINT_NAME"
  printf '%s\n' "$1" >"$settings/endpoint-address"
  grep --quiet --line-regexp --fixed-strings "$line" /etc/hosts && return
  # The file can be a mount of its own, which can be written but not replaced.
  local others
  others=$(grep --invert-match --word-regexp --fixed-strings "$ENDPOINT_NAME" /etc/hosts || true)
  printf '%s\n%s\n' "$others" "$line" >/etc/hosts
}
