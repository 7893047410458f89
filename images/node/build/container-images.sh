#!/bin/sh
# Fills containerd's store with the images that a cluster begins with: those that were pulled, or else images made here from
# the programs that were built. Their unpacked layers become part of the machine image, and containerd's own folder
# links to them: it is copied for every machine, and they are the same in all.
set -eu

programs=$1 kubernetes_version=$2 flannel_image=$3 hello_image=$4
scratch=/scratch
store=$scratch/containerd
mkdir -p "$scratch/images"

main() {
  name_images
  archives=$programs/images
  if [ ! -d "$archives" ]; then
    make_images
    archives=$scratch/images
  fi
  start_containerd
  for archive in "$archives"/*.tar; do
    ctr --namespace k8s.io images import --digests=false "$archive" > /dev/null
  done
  list_packed_layers | while read -r digest; do
    ctr --namespace k8s.io content rm "$digest" > /dev/null
  done
  stop_containerd
  list_packed_layers | while read -r digest; do
    rm "$(blob_file "$digest")"
  done
  keep_layers
}

# kubeadm itself says which images, at which versions, its clusters begin with.
name_images() {
  kubernetes_images='' pause_image='' coredns_image=''
  for image in $(kubeadm config images list --kubernetes-version "v$kubernetes_version"); do
    case $image in
      */pause:*) pause_image=$image ;;
      */coredns:*) coredns_image=$image ;;
      *) kubernetes_images="$kubernetes_images $image" ;;
    esac
  done
  sed -i "s|@pause_image@|$pause_image|" /etc/containerd/config.toml
}

make_images() {
  network_tools "$scratch/tools"
  mkdir -p "$scratch/kubernetes/usr/local/bin" "$scratch/flannel/opt/bin" "$scratch/coredns" "$scratch/pause" "$scratch/hello"
  cp "$programs/kubernetes" "$scratch/kubernetes/usr/local/bin/"
  for program in etcd kube-apiserver kube-controller-manager kube-proxy kube-scheduler kubectl; do
    ln -s kubernetes "$scratch/kubernetes/usr/local/bin/$program"
  done
  cp "$programs/flanneld" "$scratch/flannel/opt/bin/"
  cp "$programs/coredns" "$scratch/coredns/"
  cp "$programs/pause" "$scratch/pause/"
  cp "$programs/hello" "$scratch/hello/"
  image kubernetes '' "$kubernetes_images" tools kubernetes
  image flannel /opt/bin/flanneld "$flannel_image" tools flannel
  image coredns /coredns "$coredns_image" coredns
  image pause /pause "$pause_image" pause
  image hello /hello "$hello_image" hello
}

# The programs that set packet filter rules, with every library they load.
network_tools() {
  root=$1
  libraries=/usr/lib/$(uname -m)-linux-gnu
  mkdir -p "$root/usr/sbin" "$root$libraries" "$root/run" "$root/etc" "$root/tmp"
  cp /usr/sbin/xtables-nft-multi /usr/sbin/nft "$root/usr/sbin/"
  for family in iptables ip6tables; do
    for suffix in '' -save -restore; do
      ln -s xtables-nft-multi "$root/usr/sbin/$family$suffix"
    done
  done
  cp -a "$libraries/xtables" "$root$libraries/"
  for file in "$root"/usr/sbin/xtables-nft-multi "$root"/usr/sbin/nft "$root$libraries"/xtables/*.so; do
    ldd "$file" 2> /dev/null | grep -o '/[^ ]*' || true
  done | sort -u | while read -r library; do
    mkdir -p "$root${library%/*}"
    cp -L "$library" "$root$library"
  done
  cp /etc/protocols /etc/services "$root/etc/"
  printf 'hosts: files dns\n' > "$root/etc/nsswitch.conf"
}

# image NAME ENTRYPOINT "REFERENCE ..." LAYER...: writes an archive as `docker save` does.
image() {
  name=$1 entrypoint=$2 references=$3
  shift 3
  archive=$scratch/archive
  rm -rf "$archive" && mkdir "$archive"
  digests='' files=''
  for layer in "$@"; do
    tar -C "$scratch/$layer" -c --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner . > "$archive/$layer.tar"
    digests="$digests,\"sha256:$(sha256sum "$archive/$layer.tar" | cut -d ' ' -f 1)\""
    files="$files,\"$layer.tar\""
  done
  start=''
  [ -z "$entrypoint" ] || start="\"Entrypoint\":[\"$entrypoint\"],"
  path='PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  printf '{"architecture":"%s","os":"linux","config":{%s"Env":["%s"],"WorkingDir":"/"},"rootfs":{"type":"layers","diff_ids":[%s]},"history":[]}' \
    "$(dpkg --print-architecture)" "$start" "$path" "${digests#,}" > "$archive/config.json"
  tags=$(for reference in $references; do printf ',"%s"' "$reference"; done)
  printf '[{"Config":"config.json","RepoTags":[%s],"Layers":[%s]}]' "${tags#,}" "${files#,}" > "$archive/manifest.json"
  tar -C "$archive" -cf "$scratch/images/$name.tar" .
}

start_containerd() {
  printf 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n' > "$scratch/config.toml"
  containerd --config "$scratch/config.toml" --root "$store" --state /run/containerd > "$scratch/containerd.log" 2>&1 &
  containerd=$!
  until ctr version > /dev/null 2>&1; do
    kill -0 "$containerd" || { cat "$scratch/containerd.log" >&2; exit 1; }
    sleep 0.1
  done
}

stop_containerd() {
  kill "$containerd"
  wait "$containerd" || true
}

# Everything is unpacked; of the packed form, only the small files stay that describe the images.
list_packed_layers() {
  find "$store/io.containerd.content.v1.content/blobs/sha256" -type f -size +64k | sed 's|.*/|sha256:|'
}

blob_file() {
  printf '%s' "$store/io.containerd.content.v1.content/blobs/sha256/${1#sha256:}"
}

keep_layers() {
  snapshots=$store/io.containerd.snapshotter.v1.overlayfs/snapshots
  mkdir -p /usr/lib/kubicorn/layers
  for snapshot in "$snapshots"/*; do
    id=${snapshot##*/}
    mv "$snapshot/fs" "/usr/lib/kubicorn/layers/$id"
    ln -s "/usr/lib/kubicorn/layers/$id" "$snapshot/fs"
    # One inode is stored once, and its pages are in memory once, for the machines' own programs and those in containers.
    copy=/usr/lib/kubicorn/layers/$id/usr/local/bin/kubernetes
    if [ -e "$copy" ] && [ -e /usr/local/bin/kubernetes ] && cmp -s "$copy" /usr/local/bin/kubernetes; then
      ln -f "$copy" /usr/local/bin/kubernetes
    fi
  done
  rm -rf "$store"/io.containerd.runtime.* "$store"/tmpmounts "$store"/io.containerd.snapshotter.v1.[a-n]*
  mkdir -p /var/lib
  rm -rf /var/lib/containerd
  cp -a "$store" /var/lib/containerd
}

main
