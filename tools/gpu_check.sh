#!/usr/bin/env bash
# Tries a built trainyard on a machine with NVIDIA GPUs: what it finds, what jobs get, how GPUs are freed.
#
# usage: tools/gpu_check.sh PROGRAM [--stand-in]
#
# Takes a few minutes (8 at most), asks no network, needs python3 with its venv module, and for the container's
# part crun or runc, and skopeo. Prints PASSED, FAILED or SKIPPED for each check. The status is 0 if none failed,
# 1 if one did, 2 for a wrong call. --stand-in: with libraries that play a GPU, for a machine without one.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
if (($# < 1)) || [[ ! -x $1 || -d $1 ]]; then
  sed -n 's/^# //p' "$0" >&2
  exit 2
fi
export PYTHONDONTWRITEBYTECODE=1
exec timeout --foreground --kill-after=60 420 python3 "$here/gpu/check.py" "$@"
