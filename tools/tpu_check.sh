#!/usr/bin/env bash
# Tries a built trainyard on a machine with TPU chips of its own: what it finds, what jobs get.
#
# usage: tools/tpu_check.sh PROGRAM [--stand-in]
#
# Takes some minutes, needs Python 3.11 and a package index (a gigabyte). Written by TensorFlow's documentation; nobody
# has run it on a TPU yet. Prints PASSED or FAILED for each check. The status is 0 if none failed, 1 if one did, 2 for
# a wrong call. --stand-in: the CPU takes the TPU's place (--accelerator-map), to try the script itself.
set -uo pipefail
if (($# < 1)) || [[ ! -x $1 || -d $1 || ${2:---stand-in} != --stand-in ]]; then
  sed -n 's/^# //p' "$0" >&2
  exit 2
fi
here=$(dirname "$(readlink -f "$0")")
program=$(readlink -f "$1")
runtime=2.20-tpu flags=() replicas='[2-9][0-9]*|1[0-9]+'
if (($# > 1)); then runtime=2.15 flags=(--accelerator-map tpu-v2=cpu) replicas=1; fi
failed=0
work=$(mktemp -d /var/tmp/tpu-check-XXXXXX)
chmod 755 "$work"
server=
cleanup() {
  if [[ -n $server ]]; then kill "$server" 2>/dev/null && wait "$server"; fi
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

check() {  # NAME COMMAND...: the command's output is its reason
  local name=$1 begin=$SECONDS said
  shift
  if said=$("$@" 2>&1); then
    echo "PASSED   $name ($((SECONDS - begin)) s)"
  else
    echo "FAILED   $name ($((SECONDS - begin)) s): ${said: -1500}"
    failed=$((failed + 1))
  fi
}

mkdir -p "$work/data"
ln -sfn "${TRAINYARD_TEST_ENVIRONMENTS:-$work/environments}" "$work/data/environments"
mkdir -p "$(readlink "$work/data/environments")"
mkfifo "$work/said"
"$program" serve --data "$work/data" --listen 127.0.0.1:0 --verbose "${flags[@]}" >"$work/said" 2>"$work/server.log" &
server=$!
read -r line <"$work/said"
url=${line##* }
case $line in
  "listening on "*) ;;
  *) echo "FAILED   the server did not start: $(tail -5 "$work/server.log")"; exit 1 ;;
esac

job() {  # NAME SCALE_TIER PROGRAM: runs it and prints its log
  mkdir -p "$work/$1/trainer"
  cp "$3" "$work/$1/trainer/task.py"
  touch "$work/$1/trainer/__init__.py"
  "$program" --server "$url" --project p jobs submit training "$1" --region us-central1 --scale-tier "$2" \
    --runtime-version "$runtime" --package-path "$work/$1/trainer" --module-name trainer.task \
    --staging-bucket gs://packages --stream-logs
}

finds() { [[ ${flags[*]} ]] || grep -q "TPU" "$work/server.log" || { tail -5 "$work/server.log"; return 1; }; }

trains() {
  local log
  log=$(job "$1" BASIC_TPU "$here/../tests/e2e/gs_trainers/tpu_strategy.py" 2>&1)
  [[ $log =~ \"replicas\":\ ($replicas), && $log == *'"loop": true'* ]] || { echo "$log"; return 1; }
}

succeeds() {
  local log
  log=$(job "$@" 2>&1)
  [[ $log == *"state: SUCCEEDED"* ]] || { echo "$log"; return 1; }
}

cat >"$work/none.py" <<'PYTHON'
import glob
import os
import sys

open_ones = [file for file in glob.glob("/dev/accel*") + glob.glob("/dev/vfio/[0-9]*") if os.access(file, os.R_OK | os.W_OK)]
sys.exit(f"it can open {open_ones}" if open_ones else 0)
PYTHON

check "the server finds the TPU" finds
check "runtime version $runtime can be built" "$program" runtimes install "$runtime" --data "$work/data"
check "TPUStrategy trains, Keras and a loop of its own" trains first
check "the next job gets the same chips" trains second
check "a job without a TPU cannot open its device files" succeeds without BASIC "$work/none.py"
echo "$([[ $failed == 0 ]] && echo PASSED || echo FAILED): $failed of 5 checks failed"
exit $((failed > 0))
