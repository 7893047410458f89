#!/bin/bash
# up.sh IMAGE KUBECTL [WORKERS]: a cluster of one control plane and some workers by bare commands, on the machine image that
# `npm run up` uses: machines side by side, kubeadm init, joins side by side, pod network, all nodes Ready.
# Prints the seconds that took on standard output and the steps on standard error, and removes everything.
set -euo pipefail
image=$1 kubectl=$2 workers=${3:-2}
here=$(dirname "$(readlink -f "$0")")
name=kubicorn-bare-$$
prefix=10.98.250
work=$(mktemp -d)
limits=(--ulimit nofile=20000:20000 --ulimit nproc=32768:32768)

cleanup() {
  for index in $(seq 0 "$workers"); do podman rm --force --volumes --time 0 "$name-$index" >/dev/null 2>&1 || true; done
  podman network rm --force "$name" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT

address() { echo "$prefix.$((10 + $1))"; }
say() { awk -v from="$began" -v to="$EPOCHREALTIME" -v what="$1" 'BEGIN { printf "%6.1f s  %s\n", to - from, what }' >&2; }
on() {
  local machine=$1
  shift
  ssh -i "$work/key" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectTimeout=1 \
    -o BatchMode=yes -o ControlMaster=auto -o ControlPath="$work/ssh-%h" -o ControlPersist=60 "bare@$(address "$machine")" "sudo sh -c $(printf %q "$*")"
}
fill() { sed "s#@ADDRESS@#$(address 0)#; s#@VERSION@#v$version#; s#@HASH@#${hash-}#; s#@RANGE@#${range-}#" "$here/$1"; }

start_machine() {
  podman create --name "$name-$1" --hostname "bare-$1" --network "$name" --ip "$(address "$1")" --privileged --systemd=false \
    --cgroupns=private "${limits[@]}" --pids-limit 0 --tmpfs /run --tmpfs /tmp --volume /var "$image" >/dev/null
  tar -C "$work/seed" -c user-data meta-data | podman cp - "$name-$1:/etc/kubicorn/first-boot"
  podman start "$name-$1" >/dev/null
  until on "$1" true </dev/null 2>/dev/null; do sleep 0.1; done
}

join() {
  fill join.yaml | on "$1" 'cat > /etc/kubeadm.yaml'
  on "$1" "kubeadm join $ignored --config /etc/kubeadm.yaml" >"$work/join-$1.log" 2>&1 || { cat "$work/join-$1.log" >&2; exit 1; }
}

version=$("$kubectl" version --client -o json | sed -n 's/.*"gitVersion": "v\([^"]*\)".*/\1/p' | head -n 1)
ignored=''
[[ -e /sys/fs/cgroup/cgroup.controllers ]] || ignored=--ignore-preflight-errors=SystemVerification
ssh-keygen -q -t ed25519 -N '' -f "$work/key"
mkdir "$work/seed"
sed "s#@KEY@#$(<"$work/key.pub")#" "$here/user-data.yaml" >"$work/seed/user-data"
echo "instance-id: $name" >"$work/seed/meta-data"

began=$EPOCHREALTIME
podman network create --subnet "$prefix.0/24" --disable-dns "$name" >/dev/null
machines=()
for index in $(seq 1 "$workers"); do start_machine "$index" & machines+=($!); done
start_machine 0
say "the control plane answers SSH"
fill init.yaml | on 0 'cat > /etc/kubeadm.yaml'
on 0 "kubeadm init $ignored --config /etc/kubeadm.yaml" >"$work/init.log" 2>&1 || { cat "$work/init.log" >&2; exit 1; }
say "kubeadm init"
export KUBECONFIG=$work/kubeconfig
on 0 'cat /etc/kubernetes/admin.conf' >"$KUBECONFIG"
hash=sha256:$(on 0 "openssl x509 -pubkey -noout -in /etc/kubernetes/pki/ca.crt | openssl pkey -pubin -outform der | sha256sum | cut -d' ' -f1")
wait "${machines[@]}"
say "all machines answer SSH"
joins=()
for index in $(seq 1 "$workers"); do join "$index" & joins+=($!); done
wait "${joins[@]}"
say "all joined"

"$kubectl" -n kube-system rollout status daemonset/kube-proxy --timeout=60s >/dev/null
"$kubectl" get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.spec.podCIDR}{"\n"}{end}' >"$work/nodes"
while read -r node range; do
  index=${node#bare-}
  fill pod-network.json | on "$index" 'mkdir -p /etc/cni/net.d; cat > /etc/cni/net.d/10-bare.conflist'
  routes=''
  while read -r other its; do
    [[ $other == "$node" ]] || routes+="ip route replace $its via $(address "${other#bare-}"); "
  done <"$work/nodes"
  on "$index" "$routes true" </dev/null
done <"$work/nodes"
say "pod network and routes"
"$kubectl" wait --for=condition=Ready node --all --timeout=120s >/dev/null
say "all nodes Ready"
awk -v from="$began" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.2f\n", to - from }'
