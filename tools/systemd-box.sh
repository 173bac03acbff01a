#!/usr/bin/env bash
# systemd-box.sh - a real systemd as PID 1 of a clean Debian root on ONE machine whose own PID 1 is something else.
#
#   systemd-box.sh start DIR [options]          build or unpack the root (first time), boot it, wait until systemd says it is up
#   systemd-box.sh exec DIR [--user U] -- CMD   run CMD inside (all namespaces, own cgroup /exec); its exit status is ours
#   systemd-box.sh copy DIR SRC... DEST         copy files or folders of this machine into the folder DEST inside (made if absent)
#   systemd-box.sh reboot DIR [--hard]          systemctl reboot inside (ExecStop, time-outs and all), then boot again; --hard: power loss
#   systemd-box.sh stop DIR [--hard] [--purge]  power off in order (--hard: at once); --purge: rm -rf DIR as well
#   systemd-box.sh status DIR                   state, PID 1 as seen from here, failed units
#
# Options of start: --release R (bookworm)   --cache FOLDER  where the base tarball is kept (default: DIR/..)
#   --include a,b  more Debian packages in the base (a tarball of its own)   --mirror URL  --fresh  throw DIR/root away first
#   --cgroup v2|hybrid   v2 (default): one cgroup2 tree, as every Debian 12 has; it holds the controllers that this machine's
#             cgroup2 has left (none where the machine mounts them as v1: then no memory.max inside)
#             hybrid: processes tracked in v1 name=systemd, and this machine's v1 controllers, writable: limits are real
#   --net private|host   private (default): own network with lo only; host: this machine's (apt works, ports are shared)
#   --bind SRC:DST[:ro]  (repeat)   --wait S  seconds to wait for the boot (60)
# The root is DIR/root; files are kept over stop, start and reboot (/run, /tmp, /dev are new at each boot).
# A `systemctl poweroff|reboot` typed inside ends the box; `start DIR` boots it again. journalctl works inside and, by
# `journalctl -D DIR/root/var/log/journal`, after the end. No internet inside by default: give dependencies by --include.
# Off inside: udev, kernel log, systemd-sysctl, modules, clock (CAP_SYS_MODULE, SYS_TIME etc. are dropped), login prompts; /sys is read-only.
# Seen with Debian 12 (systemd 252) and 13 (257): base 45 s and 70 MB once; then start with unpacking 2 to 10 s, boot 0.5 s, reboot 1 s, stop 0.5 s.
# Needs root, util-linux, tar, zstd; mmdebstrap for the first base. Only recorded processes (PID + kernel start time) are ended.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin

die() { echo "systemd-box: $*" >&2; exit 1; }
starttime() { local s; s=$(cat "/proc/$1/stat" 2>/dev/null) || return 1; s=${s##*) }; set -- $s; echo "${20}"; }
alive() { # alive NAME: is the process recorded in box/NAME.pid still the one we started, and no zombie?
  local p t; [ -f "$D/box/$1.pid" ] || return 1; read -r p t <"$D/box/$1.pid" || return 1
  [ "$(starttime "$p" || true)" = "$t" ] && [ "$(sed 's/.*) \(.\).*/\1/' "/proc/$p/stat" 2>/dev/null)" != Z ]; }
pid() { cut -d' ' -f1 "$D/box/$1.pid"; }
waitend() { local i; for ((i = 0; i < $1 * 10; i++)); do alive holder || return 0; sleep 0.1; done; return 1; }
load() { [ -f "$D/box/env" ] || die "no box in $D"; . "$D/box/env"; }
mounted() { # the machine's cgroup file systems: NAME PATH
  awk '$3=="cgroup"||$3=="cgroup2"{n=$2; sub(".*/","",n); print n, $2}' /proc/mounts; }
hierarchies() { # those that the box gets: all in hybrid, cgroup2 alone in v2
  awk -v m="$CGMODE" '($3=="cgroup2")||(m=="hybrid"&&$3=="cgroup"){print $2}' /proc/mounts | grep '^/sys/fs/cgroup' || true; }
rmcg() { local h i; for h in $(hierarchies); do for ((i = 0; i < 20; i++)); do [ -d "$h/$NAME" ] || break
    find "$h/$NAME" -depth -type d -exec rmdir {} \; 2>/dev/null || true; [ ! -d "$h/$NAME" ] || sleep 0.05; done; done; }

inside() { # runs as PID 1 of the new namespaces; $1 root, $2 cgroup mode, then binds; ends by exec systemd
  set -e; local R=$1 CGMODE=$2 b s d o n f; shift 2
  mount --bind "$R" "$R"; cd "$R"; mkdir -p proc sys dev run tmp oldroot var/log/journal
  mount -t proc -o nosuid,noexec,nodev proc proc; cat proc/sys/kernel/random/uuid >"$R/../box/boot_id"
  mount -t sysfs -o ro,nosuid,noexec,nodev sysfs sys   # read-only: udev stays off, the machine's devices alone
  mount -t tmpfs -o mode=755,nosuid tmpfs dev; mount -t tmpfs -o mode=755,nosuid,nodev tmpfs run; mount -t tmpfs -o nosuid,nodev tmpfs tmp
  for n in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0 console:1:3; do IFS=: read -r f s d <<<"$n"; mknod -m 666 "dev/$f" c "$s" "$d"; done
  for f in fuse:10:229 net/tun:10:200; do IFS=: read -r n s d <<<"$f"; mkdir -p "dev/$(dirname "$n")"; mknod -m 666 "dev/$n" c "$s" "$d"; done
  mkdir dev/pts dev/shm dev/mqueue; mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts dev/pts
  mount -t tmpfs -o nosuid,nodev tmpfs dev/shm
  ln -s pts/ptmx dev/ptmx; ln -s /proc/self/fd dev/fd; for n in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${n%:*}" "dev/${n#*:}"; done
  # a boot id of its own for journalctl -b; a second whole /proc, for else user namespaces inside could not mount theirs
  mount --bind "$R/../box/boot_id" proc/sys/kernel/random/boot_id; mkdir -m 0 dev/.proc; mount -t proc -o nosuid,noexec,nodev proc dev/.proc
  if [ "$CGMODE" = v2 ]; then mount -t cgroup2 -o nosuid,noexec,nodev,nsdelegate cgroup2 sys/fs/cgroup || mount -t cgroup2 cgroup2 sys/fs/cgroup
  else # the namespace makes the box's own group the root of each of these
    mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
    while read -r n f; do mkdir "sys/fs/cgroup/$n"; case $n in
        unified) mount -t cgroup2 -o nosuid,noexec,nodev cgroup2 sys/fs/cgroup/unified ;;
        systemd) mount -t cgroup -o nosuid,noexec,nodev,none,name=systemd,xattr cgroup sys/fs/cgroup/systemd || mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd ;;
        *) mount -t cgroup -o "nosuid,noexec,nodev,$n" cgroup "sys/fs/cgroup/$n" ;; esac; done < <(mounted)
    mount -o remount,ro,mode=755 sys/fs/cgroup; fi
  for b in "$@"; do IFS=: read -r s d o <<<"$b"; if [ -d "$s" ]; then mkdir -p "./$d"; else mkdir -p "./$(dirname "$d")"; touch "./$d"; fi
    mount --rbind "$s" "./$d"; [ "${o:-}" != ro ] || mount -o remount,bind,ro "./$d"; done
  ip link set lo up 2>/dev/null || true; hostname systemd-box
  pivot_root . oldroot; umount -l /oldroot; rmdir /oldroot 2>/dev/null || true; cd /; mount --make-rshared / # LoadCredential= needs it
  # no network time, modules, raw devices, kernel log, audit control: what systemd finds missing it leaves out by itself
  exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin container=systemd-box LANG=C.UTF-8 \
    setpriv --bounding-set=-sys_module,-sys_time,-sys_rawio,-syslog,-audit_control,-audit_read,-mac_admin,-mac_override,-wake_alarm,-block_suspend \
    --inh-caps=-all /lib/systemd/systemd --system; }

boot() { # the recorded holder waits for PID 1 and dies with it (and takes it along when it is killed)
  local h net=() i; NAME=systemd-box-$(printf %s "$D" | cksum | cut -d' ' -f1); printf 'NAME=%q\nCGMODE=%q\nNET=%q\nBINDS=(%s)\nWAIT=%q\n' "$NAME" "$CGMODE" "$NET" "${BINDS[*]@Q}" "$WAIT" >"$D/box/env"
  [ "$NET" = host ] || net=(--net); rmcg; rm -f "$D/box/init.pid"
  for h in $(hierarchies); do mkdir -p "$h/$NAME"; done
  ( for h in $(hierarchies); do case $h in */cpuset) cat "$h/cpuset.cpus" >"$h/$NAME/cpuset.cpus"; cat "$h/cpuset.mems" >"$h/$NAME/cpuset.mems" ;; esac
      echo "$BASHPID" >"$h/$NAME/cgroup.procs"; done
    exec setsid unshare --mount --uts --ipc "${net[@]}" --pid --cgroup --fork --kill-child=KILL --propagation private \
      "$SELF" --inside "$D/root" "$CGMODE" "${BINDS[@]}" </dev/null >>"$D/box/boot.log" 2>&1 ) & local p=$!; disown "$p" 2>/dev/null || true
  echo "$p $(starttime "$p" || echo 0)" >"$D/box/holder.pid"
  for ((i = 0; i < WAIT * 20; i++)); do
    alive holder || { tail -n 5 "$D/box/boot.log" >&2; rmcg; die "the box ended while it booted; see $D/box/boot.log, $D/root/var/log/journal"; }
    h=$(cat "/proc/$p/task/$p/children" 2>/dev/null || true); h=${h%% *}
    [ -n "$h" ] && [ "$(readlink "/proc/$h/exe" 2>/dev/null)" = /usr/lib/systemd/systemd ] && { echo "$h $(starttime "$h")" >"$D/box/init.pid"; [ -S "/proc/$h/root/run/systemd/private" ] && break; }
    sleep 0.05; done
  local state; state=$(enter timeout "$WAIT" systemctl is-system-running --wait 2>/dev/null || true)
  case $state in running | degraded) echo "$state: systemd $(enter systemctl --version | sed -n '1s/[^(]*(\([^)]*\).*/\1/p'), cgroup $CGMODE, $D" ;; *) finish hard; die "not up after $WAIT s: ${state:-no answer}; see $D/root/var/log/journal" ;; esac; }
enter() { # in the box's namespaces and in its cgroup (a group of its own that systemd does not know)
  local h p; p=$(pid init); ( for h in $(hierarchies); do case $h in */systemd | */unified) mkdir -p "$h/$NAME/exec"; echo "$BASHPID" >"$h/$NAME/exec/cgroup.procs" ;; *) echo "$BASHPID" >"$h/$NAME/cgroup.procs" ;; esac; done
    exec nsenter -t "$p" -m -u -i -n -p -C -r -w env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" "$@" ); }
finish() { # finish hard|orderly: the box's end; what may remain is its cgroup
  if alive holder; then
    if [ "$1" = orderly ] && alive init; then kill -RTMIN+4 "$(pid init)" 2>/dev/null || true; waitend 100 || true; fi
    if alive holder; then alive init && kill -KILL "$(pid init)" 2>/dev/null; kill -KILL "$(pid holder)" 2>/dev/null || true; waitend 10 || die "the box did not end"; fi
  fi; rm -f "$D/box/holder.pid" "$D/box/init.pid"; rmcg; }

SELF=$(readlink -f "$0"); cmd=${1:-}
[ "$cmd" != --inside ] || { shift; inside "$@"; }
case $cmd in '' | -h | --help) sed -n '2,/^set -/{/^#/p}' "$0"; [ -n "$cmd" ] && exit 0; exit 2 ;; esac
[ "$(id -u)" = 0 ] || die "needs root"
[ -n "${2:-}" ] || die "which directory?"; [ "$cmd" != start ] || mkdir -p "$2"
[ -d "$2" ] || { [ "$cmd" = stop ] && exit 0; die "no box in $2"; }; D=$(cd "$2" && pwd -P); shift 2

case $cmd in
start)
  REL=bookworm CACHE="" INC="" MIRROR="" FRESH=0 CGMODE=v2 NET=private BINDS=() WAIT=60
  while [ $# -gt 0 ]; do case $1 in --release) REL=$2; shift ;; --cache) CACHE=$2; shift ;; --include) INC=,$2; shift ;; --mirror) MIRROR=$2; shift ;; --fresh) FRESH=1 ;;
    --cgroup) CGMODE=$2; shift ;; --net) NET=$2; shift ;; --bind) BINDS+=("$2"); shift ;; --wait) WAIT=$2; shift ;; *) die "unknown option $1" ;; esac; shift; done
  case $CGMODE in v2 | hybrid) ;; *) die "--cgroup v2 or hybrid" ;; esac
  case $NET in private | host) ;; *) die "--net private or host" ;; esac
  alive holder && die "a box already runs in $D"; mkdir -p "$D/box"; [ "$FRESH" = 0 ] || rm -rf "$D/root"
  if [ ! -e "$D/root/etc/os-release" ]; then
    PKGS=systemd,systemd-sysv,dbus,procps,iproute2,openssl,python3-minimal$INC; CACHE=$(mkdir -p "${CACHE:-$D/..}"; cd "${CACHE:-$D/..}" && pwd -P)
    T=$CACHE/systemd-box-$REL-$(printf %s "$PKGS" | cksum | cut -d' ' -f1).tar.zst
    [ -f "$T" ] || { command -v mmdebstrap >/dev/null || die "mmdebstrap not found (apt-get install mmdebstrap zstd)"
      # shellcheck disable=SC2086
      mmdebstrap --mode=root --variant=minbase --include="$PKGS" --aptopt='APT::Install-Recommends "false"' --format=tar "$REL" "$T.$$" $MIRROR >"$D/box/bootstrap.log" 2>&1 || { tail -n 20 "$D/box/bootstrap.log" >&2; die "mmdebstrap failed"; }
      zstd -q -3 -T0 --rm -f "$T.$$" -o "$T.$$.zst" && mv "$T.$$.zst" "$T"; }
    rm -rf "$D/root.part"; mkdir -p "$D/root.part"; tar -C "$D/root.part" --zstd -xpf "$T"; : >"$D/root.part/etc/machine-id"; echo systemd-box >"$D/root.part/etc/hostname"; printf '127.0.0.1\tlocalhost\n127.0.1.1\tsystemd-box\n::1\tlocalhost\n' >"$D/root.part/etc/hosts"
    # what would touch the machine itself (sysctl) or needs a terminal
    for u in systemd-sysctl.service systemd-binfmt.service proc-sys-fs-binfmt_misc.automount console-getty.service getty.target sys-kernel-debug.mount sys-kernel-tracing.mount systemd-udevd.service systemd-modules-load.service; do ln -sf /dev/null "$D/root.part/etc/systemd/system/$u"; done
    mv "$D/root.part" "$D/root"; fi
  boot ;;
exec) load; alive init || die "the box in $D does not run"; U=""; while [ $# -gt 0 ]; do case $1 in --user) U=$2; shift 2 ;; --) shift; break ;; *) break ;; esac; done
  if [ -n "$U" ]; then enter runuser -u "$U" -- "$@"; else enter "$@"; fi ;;
copy) load; alive init || die "the box in $D does not run"; [ $# -ge 2 ] || die "copy DIR SRC... DEST"; DEST=${!#}; enter mkdir -p "$DEST"
  for s in "${@:1:$#-1}"; do tar -C "$(dirname "$s")" -cf - "$(basename "$s")" | enter tar -C "$DEST" --no-same-owner -xpf -; done ;;
reboot) load; alive init || die "the box in $D does not run"
  if [ "${1:-}" = --hard ]; then finish hard; else enter systemctl reboot || true; waitend 120 || die "still running after 120 s"; finish hard; fi; boot ;;
stop) [ -f "$D/box/env" ] && { load; case " $* " in *" --hard "*) finish hard ;; *) finish orderly ;; esac; }
  case " $* " in *" --purge "*) ! grep -q " $D/root" /proc/self/mounts || die "something is mounted below $D/root"; rm -rf "$D" ;; esac ;;
status) load; if alive init; then echo "running, PID 1 is $(pid init) here, cgroup $CGMODE, network $NET"; enter systemctl --failed --no-legend || true; else echo stopped; exit 3; fi ;;
*) die "unknown command $cmd" ;;
esac
