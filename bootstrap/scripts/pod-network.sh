#!/bin/bash
# Gives pods of this machine their network: as soon as flannel has its part of the pod range and kube-proxy its rules,
# and again when flannel gets another part. Both are pods with the host's network, so they do not wait for this.
# shellcheck source=bootstrap/scripts/lib.sh
source /usr/local/lib/kubicorn/lib.sh
subnet_file=/run/flannel/subnet.env
configuration=/etc/cni/net.d/10-kubicorn.conflist

# kube_proxy_ready: whether kube-proxy has made its rules; before, it calls itself healthy but has a zero time of update.
kube_proxy_ready() {
  local answer
  { exec 3<>/dev/tcp/127.0.0.1/10256; } 2>/dev/null || return 1
  printf 'GET /healthz HTTP/1.0\r\n\r\n' >&3
  answer=$(cat <&3)
  exec 3>&-
  [[ $answer == *" 200 OK"* && $answer != *'"lastUpdated": "0001-'* ]]
}

write_configuration() {
  local FLANNEL_SUBNET FLANNEL_MTU
  # shellcheck source=/dev/null
  source "$subnet_file"
  mkdir -p "${configuration%/*}"
  cat >"$configuration.new" <<JSON
{
  "cniVersion": "1.0.0",
  "name": "kubicorn",
  "plugins": [
    {
      "type": "ptp",
      "mtu": $FLANNEL_MTU,
      "ipam": {
        "type": "host-local",
        "dataDir": "/run/kubicorn-pod-addresses",
        "ranges": [[{ "subnet": "${FLANNEL_SUBNET%.*}.0/${FLANNEL_SUBNET#*/}" }]],
        "routes": [{ "dst": "0.0.0.0/0" }]
      }
    },
    { "type": "portmap", "capabilities": { "portMappings": true } }
  ]
}
JSON
  mv "$configuration.new" "$configuration"
}

while true; do
  if [[ ! -e $subnet_file ]]; then
    sleep 0.1
  elif [[ $configuration -nt $subnet_file ]]; then
    sleep 5
  elif kube_proxy_ready; then
    write_configuration
  else
    sleep 0.1
  fi
done
