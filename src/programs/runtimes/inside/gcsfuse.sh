#!/bin/sh
# gcsfuse, fusermount and umount where the buckets are folders below /gcs: a mount becomes a link, which needs no
# rights. Flags of gcsfuse are taken as it takes them; most have nothing to say here.

gcs=/gcs
name=${0##*/}

fail() {
  echo "$name: $*" >&2
  exit 1
}

# The path without a slash at its end, from the root.
absolute() {
  path=$1
  while [ "$path" != / ] && [ "${path%/}" != "$path" ]; do path=${path%/}; done
  case $path in
    /*) printf '%s\n' "$path" ;;
    *) printf '%s/%s\n' "${PWD%/}" "$path" ;;
  esac
}

is_ours() {
  [ -L "$1" ] && case $(readlink "$1") in "$gcs" | "$gcs"/*) true ;; *) false ;; esac
}

unmount() {
  rm -f "$1" && mkdir "$1"
}

mount_bucket() {
  only= foreground= bucket= folder=
  while [ $# -gt 0 ]; do
    case $1 in
      --foreground | -foreground | --foreground=true) foreground=yes ;;
      --only-dir | -only-dir) only=$2 && shift ;;
      --only-dir=* | -only-dir=*) only=${1#*=} ;;
      -h | --help) echo "usage: gcsfuse [flags] [bucket] mountpoint" && exit 0 ;;
      -v | --version) echo "gcsfuse of Trainyard: links to $gcs" && exit 0 ;;
      -o | --o | --app-name | --billing-project | --cache-dir | --client-protocol | --config-file | --custom-endpoint | \
        --dir-mode | --egress-bandwidth-limit-bytes-per-sec | --endpoint | --file-cache-max-size-mb | --file-mode | --gid | \
        --http-client-timeout | --key-file | --kernel-list-cache-ttl-secs | --limit-bytes-per-sec | --limit-ops-per-sec | \
        --log-file | --log-format | --log-severity | --max-conns-per-host | --max-idle-conns-per-host | --max-retry-attempts | \
        --max-retry-duration | --max-retry-sleep | --metadata-cache-ttl-secs | --only-dir-mode | --rename-dir-limit | \
        --retry-multiplier | --sequential-read-size-mb | --stat-cache-capacity | --stat-cache-max-size-mb | \
        --stat-cache-ttl | --temp-dir | --token-url | --type-cache-max-size-mb | --type-cache-ttl | --uid) shift ;;
      --) ;;
      -*) ;;
      *) bucket=$folder folder=$1 ;;
    esac
    [ $# -eq 0 ] || shift
  done
  [ -n "$folder" ] || fail "gcsfuse takes one or two arguments: [bucket] mountpoint"
  folder=$(absolute "$folder")
  bucket=${bucket#gs://}
  target=$gcs${bucket:+/${bucket%/}}
  shown=${bucket:+gs://${bucket%/}}
  [ -d "$target" ] || fail "there is no bucket $shown: 'gsutil mb $shown' makes it"
  only=${only#/}
  only=${only%/}
  if [ -n "$only" ]; then
    target=$target/$only shown=$shown/$only
    mkdir -p "$target" || fail "$shown cannot be made"
  fi
  shown=${shown:-the buckets}
  waits=
  [ -z "$foreground" ] ||
    trap '[ -z "$waits" ] || kill "$waits" 2>/dev/null; ! is_ours "$folder" || unmount "$folder"; exit 0' INT TERM
  if is_ours "$folder"; then
    [ "$(readlink "$folder")" = "$target" ] || fail "$folder shows $(readlink "$folder") already: fusermount -u $folder"
  else
    [ -d "$folder" ] && [ ! -L "$folder" ] || fail "the mount point $folder is not a folder: mkdir -p $folder"
    [ -z "$(ls -A "$folder")" ] || fail "the mount point $folder is not empty"
    { rmdir "$folder" && ln -s "$target" "$folder"; } || fail "$folder cannot be replaced by a link to $target"
  fi
  echo "gcsfuse: $folder shows $shown (a link to $target). File system has been successfully mounted."
  [ -n "$foreground" ] || return 0
  while :; do
    sleep 3600 &
    waits=$!
    wait "$waits"
  done
}

# The program of the same name that this one stands in front of.
next_program() {
  for place in /usr/local/bin /usr/bin /bin /usr/sbin /sbin; do
    [ -x "$place/$name" ] && ! cmp -s "$0" "$place/$name" 2>/dev/null && ! [ "$0" -ef "$place/$name" ] && exec "$place/$name" "$@"
  done
}

unmount_folder() {
  folder=
  for word; do
    case $word in
      -*) ;;
      *) folder=$(absolute "$word") ;;
    esac
  done
  if [ -n "$folder" ] && is_ours "$folder"; then
    unmount "$folder" || fail "$folder cannot be made a folder again"
    echo "$name: $folder is an empty folder again"
    exit 0
  fi
  next_program "$@"
  fail "entry for ${folder:-a folder} not found in /etc/mtab"
}

case $name in
  gcsfuse) mount_bucket "$@" ;;
  *) unmount_folder "$@" ;;
esac
