#!/usr/bin/env bash
# make_image.sh PACKAGE.deb [--out FOLDER] [--mirror URL]   a minimal Debian 12 with the package and what it recommends, as an OCI image:
#   FOLDER/trainyard_VERSION_ARCH.oci.tar (default: beside the package), for `podman load -i` or `skopeo copy oci-archive:`
#
# Process 1 is tini: orphans of jobs are reaped. Jobs end with the container. docs/operators.md says how to run it.
# The pods of a Kubernetes cluster can use the image, too: they find the program under the name of its digest (docs/kubernetes.md).
set -euo pipefail
die() { printf 'make_image: %s\n' "$*" >&2; exit 1; }

deb=$(readlink -f "${1:?which package?}")
shift
out=$(dirname "$deb") mirror=()
while (($#)); do
  case $1 in
    --out) out=$2; shift 2 ;;
    --mirror) mirror=("$2"); shift 2 ;;
    *) die "unknown option $1" ;;
  esac
done
for tool in mmdebstrap umoci; do
  command -v "$tool" >/dev/null || die "$tool is not here; './dev image' installs what is needed"
done
version=$(dpkg-deb -f "$deb" Version)
arch=$(dpkg-deb -f "$deb" Architecture)
: "${SOURCE_DATE_EPOCH:=$(stat -c %Y "$deb")}"
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The script of a pod (src/rules/kubernetes/pod_objects.cc) looks for the agent here, and need not download it then.
name_by_digest='mkdir -p /usr/local/lib/trainyard &&
  ln -s /usr/bin/trainyard "/usr/local/lib/trainyard/trainyard-$(sha256sum /usr/bin/trainyard | cut -d " " -f 1)"'
# Recommended packages are named: the package's own, and not those of everything below it.
mmdebstrap --variant=minbase --include=tini,python3-venv,crun,skopeo,uidmap,ca-certificates,iproute2 --aptopt='APT::Install-Recommends "false"' \
  --architectures="$arch" --customize-hook="copy-in '$deb' /tmp" \
  --customize-hook="chroot \"\$1\" sh -c 'dpkg -i /tmp/*.deb && rm /tmp/*.deb && rm -rf /usr/share/man/* /usr/share/locale/* /var/log/* /var/cache/*'" \
  --customize-hook="chroot \"\$1\" sh -c '$name_by_digest'" \
  bookworm "$work/root.tar" "${mirror[@]}" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; die "mmdebstrap failed"; }

image=$work/layout:$version
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
umoci init --layout "$work/layout"
umoci new --image "$image"
umoci raw add-layer --image "$image" --history.created="$created" --history.created_by="trainyard $version in Debian 12" "$work/root.tar"
umoci config --image "$image" --no-history --created="$created" --architecture="$arch" --os=linux \
  --config.entrypoint=/usr/bin/tini --config.entrypoint=-- --config.entrypoint=/usr/bin/trainyard \
  --config.cmd=serve \
  --config.env=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --config.env=TRAINYARD_DATA=/var/lib/trainyard --config.volume=/var/lib/trainyard \
  --config.exposedports=8470/tcp --config.stopsignal=SIGTERM \
  --config.label="org.opencontainers.image.title=trainyard" --config.label="org.opencontainers.image.version=$version" \
  --config.label="org.opencontainers.image.licenses=Apache-2.0"
umoci gc --layout "$work/layout"
# The name that `podman load` gives it; a tag alone cannot say it.
sed -i "s|\"org.opencontainers.image.ref.name\":\"$version\"|\"org.opencontainers.image.ref.name\":\"trainyard:$version\"|" "$work/layout/index.json"
made=$out/trainyard_${version}_$arch.oci.tar
tar -cf "$made.part" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$work/layout" .
mv "$made.part" "$made"
echo "$made"
