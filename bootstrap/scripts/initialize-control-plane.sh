#!/bin/bash
# Makes this machine the cluster's first control plane. A half-made one of an earlier try is taken away first.
# shellcheck source=bootstrap/scripts/lib.sh
source /usr/local/lib/kubicorn/lib.sh
is_done initialized && exit
log_to_file

configuration=$settings/kubeadm.yaml
export KUBECONFIG=/etc/kubernetes/admin.conf

if [[ -e /etc/kubernetes/manifests/kube-apiserver.yaml ]]; then
  begin "taking away a half-made control plane"
  kubeadm reset --force
fi

begin "starting etcd and the API server (kubeadm init)"
ignored=()
[[ -e /sys/fs/cgroup/cgroup.controllers ]] || ignored=(--ignore-preflight-errors=SystemVerification)
kubeadm init --config "$configuration" "${ignored[@]}" --skip-token-print \
  --skip-phases control-plane/controller-manager,control-plane/scheduler,wait-control-plane \
  --skip-phases upload-config,upload-certs,mark-control-plane,bootstrap-token,kubelet-finalize,addon,show-join-command

# crashing_container: the name of a part of the control plane that has ended three times.
crashing_container() {
  crictl ps --all --state exited 2>/dev/null | awk '
    match($0, /Exited +(etcd|kube-apiserver) +[0-9]+/) {
      split(substr($0, RSTART, RLENGTH), found, / +/)
      if (found[3] >= 2) { name = found[2] }
    }
    END { print name; exit name == "" }'
}

begin "waiting for the API server to serve"
deadline=$(($(seconds_up) + 240))
looks=0
until curl --silent --fail --output /dev/null --max-time 5 --cacert /etc/kubernetes/pki/ca.crt "https://$ENDPOINT_NAME:$ENDPOINT_PORT/readyz"; do
  if ((++looks % 20 == 0)) && complaint=$(kubelet_keeps_ending); then
    printf 'kubelet does not run on this machine; it says:\n%s\n' "$complaint"
    exit 1
  fi
  if ((looks % 50 == 0)) && container=$(crashing_container); then
    say "the container $container ends again and again; its last lines:"
    crictl logs --tail 15 "$(crictl ps --all --quiet --latest --name "$container")" || true
    exit 1
  fi
  if (($(seconds_up) > deadline)); then
    say "it does not after 240 s"
    journal_end kubelet.service
    exit 1
  fi
  sleep 0.1
done

# The controllers come only now: those that find no API, or no permissions in it, pause for seconds before they look again.
begin "starting the controllers and storing what other machines need to join (kubeadm init)"
kubeadm init --config "$configuration" --skip-token-print \
  --skip-phases preflight,certs,kubeconfig,etcd,control-plane/apiserver,kubelet-start,wait-control-plane \
  --skip-phases upload-certs,kubelet-finalize,addon,show-join-command
mark_done joinable

begin "starting the pod network, kube-proxy and DNS"
# Without validation, for which the API server would have to put together its whole schema first.
kubectl apply --server-side --validate=false --filename "$settings/pod-network.yaml"
kubeadm init phase addon all --config "$configuration"

# What kubeadm's phase kubelet-finalize does, but for a restart of kubelet in the busiest second: kubelet renews its
# certificate in this file already, and has to find it there after its next start.
certificate=/var/lib/kubelet/pki/kubelet-client-current.pem
kubectl config set-credentials "system:node:$MACHINE" --kubeconfig /etc/kubernetes/kubelet.conf \
  --client-certificate "$certificate" --client-key "$certificate"
mark_done initialized
