#!/usr/bin/env bash
# make_deb.sh PROGRAM [--version V] [--out FOLDER] [--fast]   packs a built program as FOLDER/trainyard_V_ARCH.deb (default: build/package)
#
# V is the program's own version if it is not said: another one is for trying upgrades. --fast compresses less.
# The same program and commit give the same bytes: all times are SOURCE_DATE_EPOCH, by default the commit's.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
top=$(dirname "$here")
die() { printf 'make_deb: %s\n' "$*" >&2; exit 1; }

program=$(readlink -f "${1:?which program?}")
shift
version='' out=$top/build/package compression=xz
while (($#)); do
  case $1 in
    --version) version=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --fast) compression=zstd; shift ;;
    *) die "unknown option $1" ;;
  esac
done
for tool in cpack dpkg-shlibdeps strip objdump; do
  command -v "$tool" >/dev/null || die "$tool is not here; './dev package' installs what is needed"
done
: "${SOURCE_DATE_EPOCH:=$(git -C "$top" log -1 --format=%ct 2>/dev/null || stat -c %Y "$program")}"
export SOURCE_DATE_EPOCH
umask 022
mkdir -p "$out"
out=$(readlink -f "$out")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stage=$work/stage
doc=$stage/usr/share/doc/trainyard

# The program's texts do not depend on who asks.
ask() { env -i PATH=/usr/bin:/bin HOME=/nonexistent LC_ALL=C.UTF-8 "$program" "$@"; }
[[ $version ]] || version=$(ask version --format='value(version)')
[[ $version =~ ^[0-9][A-Za-z0-9.+~]*$ ]] || die "'$version' is no version of a package: is $program a trainyard?"

install -D -m 755 "$program" "$stage/usr/bin/trainyard"
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$stage/usr/bin/trainyard"
install -D -m 644 -t "$stage/usr/lib/systemd/system" "$here"/trainyard.service "$here"/trainyard-jobs.service
install -D -m 644 "$here/config.yaml" "$stage/etc/trainyard/config.yaml"
install -D -m 644 "$here/needrestart.conf" "$stage/etc/needrestart/conf.d/trainyard.conf"
install -D -m 644 "$here/lintian-overrides" "$stage/usr/share/lintian/overrides/trainyard"

put() { mkdir -p "$(dirname "$stage/$1")"; cat >"$stage/$1"; }
ask help --man | gzip -9n | put usr/share/man/man1/trainyard.1.gz
ask completion bash | put usr/share/bash-completion/completions/trainyard
ask completion zsh | put usr/share/zsh/vendor-completions/_trainyard
ask completion fish | put usr/share/fish/vendor_completions.d/trainyard.fish

# Debian's form of the newest part of CHANGELOG.md: its items are one paragraph each.
newest_items() {
  awk '/^## /{part++} part != 1 {next} /^- /{if (item) print item; item = substr($0, 3); next} /^  /{item = item " " substr($0, 3)} /^#|^$/{if (item) print item; item = ""}
       END{if (item) print item}' "$top/CHANGELOG.md"
}
{
  printf 'trainyard (%s) unstable; urgency=medium\n\n' "$version"
  newest_items | while read -r item; do fold -s -w 74 <<<"$item" | sed '1s/^/  * /; 2,$s/^/    /; s/ *$//'; done
  printf '\n -- %s  %s\n' "$(<"$here/maintainer")" "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9n | put usr/share/doc/trainyard/changelog.gz
gzip -9nc "$top/CHANGELOG.md" | put usr/share/doc/trainyard/NEWS.md.gz
install -D -m 644 "$here/copyright" "$doc/copyright"
# The pages, with the folders in which their links find each other; without the screenshots.
install -D -m 644 -t "$doc" "$top/README.md"
install -D -m 644 -t "$doc/docs" "$top"/docs/*.md "$top"/docs/*.svg
install -D -m 644 -t "$doc/docs/adr" "$top"/docs/adr/*.md
install -D -m 644 -t "$doc/clients/python" "$top/clients/python/README.md"
# The licences of what is linked in want to be passed on with it.
while read -r library; do
  [[ -f /usr/share/doc/$library/copyright ]] || die "no licence of $library: is it installed?"
  gzip -9nc "/usr/share/doc/$library/copyright" | put "usr/share/doc/trainyard/linked-in/$library.copyright.gz"
done <"$here/linked_libraries"

find "$stage" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
mkdir "$work/control"
cp "$here"/{postinst,prerm,postrm} "$work/control"
(cd "$stage" && find etc -type f -printf '/%p\n' | LC_ALL=C sort) >"$work/control/conffiles"
chmod 644 "$work/control/conffiles"

(cd "$work" && STAGE=$stage CONTROL=$work/control MAINTAINER=$(<"$here/maintainer") VERSION=$version COMPRESSION=$compression \
  cpack --config "$here/cpack_config.cmake" -B "$work/packed" >"$work/log" 2>&1) ||
  { cat "$work/log" >&2; die "cpack failed"; }
made=("$work"/packed/*.deb)
mv "${made[0]}" "$out/"
echo "$out/$(basename "${made[0]}")"
