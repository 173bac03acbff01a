#!/usr/bin/env bash
# layering_holds.sh COMPILER "DIR;DIR..." HEADER...: whether, with this include path, a program compiles, and fails
# to compile with the message of cmake/layering once it includes any of the headers.
set -euo pipefail
compiler=$1
IFS=';' read -ra folders <<<"$2"
flags=(-std=c++23 -fsyntax-only -x c++)
for folder in "${folders[@]}"; do
  [[ -n $folder ]] && flags+=("-I$folder")
done

compile() { printf '%s\nint main() {}\n' "$1" | "$compiler" "${flags[@]}" - 2>&1; }

compile '#include <vector>' || { echo 'not even <vector> can be included' >&2; exit 1; }
failed=0
for header in "${@:3}"; do
  if output=$(compile "#include <$header>"); then
    echo "a pure target can include <$header>" >&2
    failed=1
  elif [[ $output != *"a pure folder must not see <$header>"* ]]; then
    printf 'not the message of cmake/layering, but:\n%s\n' "$output" >&2
    failed=1
  fi
done
exit $failed
