#!/usr/bin/env python3
"""Presses the tab key in bash, zsh and fish, and has the manual page checked: completion.py PROGRAM. Shells and checkers
that are not installed are named and left out; bash always runs."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

from stub import Stub

JOBS = "/v1/projects/example/jobs"
ANSWERS = {"GET " + JOBS: [{"body": {"jobs": [{"jobId": "census_1"}, {"jobId": "census_2"}, {"jobId": "mnist"}]}}],
           "GET /v1/projects/other/jobs": [{"body": {"jobs": [{"jobId": "alone"}]}}],
           "GET /storage/v1/b": [{"body": {"items": [{"name": "models"}, {"name": "data"}]}}],
           "GET /storage/v1/b/models/o": [{"body": {"prefixes": ["census/"], "items": [{"name": "readme"}]}}]}
# The line that is typed, and what may stand in place of its last word.
LINES = [
    ("trainyard jo", ["jobs"]),
    ("trainyard jobs st", ["stream-logs"]),
    ("trainyard jobs submit ", ["training"]),
    ("trainyard ai-platform jobs desc", ["describe"]),
    ("trainyard jobs list --li", ["--limit"]),
    ("trainyard jobs describe ", ["census_1", "census_2", "mnist"]),
    ("trainyard jobs describe cen", ["census_1", "census_2"]),
    ("trainyard jobs describe --project=other a", ["alone"]),
    ("trainyard jobs submit training j --scale-tier prem", ["premium-1"]),
    ("trainyard jobs submit training j --scale-tier=prem", ["--scale-tier=premium-1"]),
    ("trainyard storage ls gs://mo", ["gs://models/"]),
    ("trainyard storage ls gs://models/", ["gs://models/census/", "gs://models/readme"]),
    ("trainyard jobs submit training j --config con", ["config.yaml"]),
    ("trainyard run con", ["config.yaml"]),
    ("trainyard run --gpus 1 con", ["config.yaml"]),
    ("trainyard serve --network ", ["host", "isolated"]),
    ("trainyard serve --config con", ["config.yaml"]),
    ("trainyard config ", ["check", "show"]),
    ("trainyard config check con", ["config.yaml"]),
    ("trainyard config show con", ["config.yaml"]),
    ("trainyard config show config.yaml --netw", ["--network"]),
]
# Prints the candidates as bash would put them into the line: what bash keeps of the word goes before them.
BASH = r"""
source <(trainyard completion bash)
while IFS= read -r COMP_LINE; do
  COMP_POINT=${#COMP_LINE}
  _trainyard
  word=${COMP_LINE##* }
  kept=${word%"${word##*[=:]}"}
  printf '%s ' "${COMPREPLY[@]/#/$kept}"
  echo
done
"""


def sorted_words(text):
    return sorted(text.split())


def check_bash(environment):
    lines = "".join(line + "\n" for line, _ in LINES)
    done = subprocess.run(["bash", "--norc", "-c", BASH], input=lines, capture_output=True, text=True, env=environment, check=True)
    assert not done.stderr, done.stderr
    return [sorted_words(row) for row in done.stdout.split("\n")[:-1]]


def check_fish(environment):
    script = "trainyard completion fish | source\nwhile read -l line\ncomplete -C $line | string replace -r '\\t.*' ''\necho ---\nend\n"
    lines = "".join(line + "\n" for line, _ in LINES)
    done = subprocess.run(["fish", "--no-config", "-c", script], input=lines, capture_output=True, text=True, env=environment, check=True)
    assert not done.stderr, done.stderr
    return [sorted_words(row) for row in done.stdout.split("---\n")[:-1]]


class Zsh:
    """zsh in a terminal. The key ^T writes what `compadd` was offered for the line, as the list on the screen has no form."""

    START = r"""
PS1=; unsetopt zle_bracketed_paste prompt_cr prompt_sp; autoload -Uz compinit; compinit -u -D
source <(trainyard completion zsh)
compadd() { builtin compadd "$@"; [[ ${@[-2]} == -a ]] && offered+=("${(@P)@[-1]}") }
_files() { offered+=(config.yaml) }
offer() { offered=(); zle complete-word; print -r -- "<<${(j: :)offered}>>"; BUFFER=; zle reset-prompt }
zle -C complete-word complete-word _main_complete; zle -N offer; bindkey '^T' offer; bindkey -e '^T' offer; print READY
"""

    def __init__(self, environment, directory):
        (pathlib.Path(directory) / ".zshrc").write_text(self.START)
        process, self.terminal = pty.fork()
        if process == 0:
            os.chdir(directory)
            os.execvpe("zsh", ["zsh", "-i"], {**environment, "ZDOTDIR": directory, "TERM": "dumb"})
        self.process = process
        self.seen = ""
        self.wait_for("READY")

    def wait_for(self, pattern):
        deadline = time.monotonic() + 60
        while not (found := re.search(pattern, self.seen, re.DOTALL)):
            ready, _, _ = select.select([self.terminal], [], [], deadline - time.monotonic())
            assert ready, f"no {pattern} in {self.seen!r}"
            self.seen += os.read(self.terminal, 65536).decode()
        self.seen = self.seen[found.end():]
        return found

    def complete(self, line):
        os.write(self.terminal, line.encode() + b"\x14")
        return sorted_words(self.wait_for("<<(.*?)>>").group(1))

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.process, 0)


def check_zsh(environment):
    zsh = Zsh(environment, environment["HOME"])
    try:
        return [zsh.complete(line) for line, _ in LINES]
    finally:
        zsh.close()


def check_slow_server(environment):
    """A server that does not answer costs one second, not the shell."""
    with subprocess.Popen([sys.executable, "-c", "import socket,sys; s=socket.create_server(('127.0.0.1',0)); "
                           "print(s.getsockname()[1],flush=True); sys.stdin.read()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as silent:
        port = int(silent.stdout.readline())
        done = subprocess.run(["trainyard", "__complete", "--", "jobs", "describe", ""], capture_output=True, text=True, timeout=30,
                              env={**environment, "TRAINYARD_SERVER": f"http://127.0.0.1:{port}"}, check=False)
        silent.stdin.close()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), done


def check_manual(environment):
    page = subprocess.run(["trainyard", "help", "--man"], capture_output=True, text=True, env=environment, check=True).stdout
    assert ".SS trainyard jobs submit training" in page and ".SS trainyard serve" in page and "\\-\\-container\\-engine" in page
    path = os.path.join(environment["HOME"], "trainyard.1")
    pathlib.Path(path).write_text(page)
    for checker in (["groff", "-ww", "-man", "-Tutf8", path], ["man", "--warnings", "-l", path], ["mandoc", "-T", "lint", "-W", "warning", path]):
        if not shutil.which(checker[0]):
            print(f"skipped: {checker[0]} is not installed")
            continue
        done = subprocess.run(checker, capture_output=True, text=True, env={**environment, "MANPAGER": "cat"}, check=False)
        said = done.stderr + (done.stdout if checker[0] == "mandoc" else "")
        # A version says more than a date.
        complaints = [line for line in said.split("\n") if line and "missing date" not in line]
        assert not complaints, complaints


def main():
    program = os.path.abspath(sys.argv[1])
    failed = 0
    with tempfile.TemporaryDirectory(prefix="completion-") as directory:
        bin_directory = os.path.join(directory, "bin")
        os.mkdir(bin_directory)
        os.symlink(program, os.path.join(bin_directory, "trainyard"))
        pathlib.Path(directory, "config.yaml").write_text("")
        os.chdir(directory)
        stub = Stub(ANSWERS)
        environment = {"PATH": bin_directory + ":" + os.environ["PATH"], "HOME": directory, "LANG": "C.UTF-8", "TERM": "xterm",
                       "TRAINYARD_SERVER": f"http://127.0.0.1:{stub.port}", "CLOUDSDK_CORE_PROJECT": "example",
                       "TRAINYARD_DATA": os.path.join(directory, "data")}
        try:
            for shell, check in (("bash", check_bash), ("zsh", check_zsh), ("fish", check_fish)):
                if not shutil.which(shell):
                    print(f"skipped: {shell} is not installed")
                    continue
                offered = check(environment)
                assert len(offered) == len(LINES), offered
                for (line, want), got in zip(LINES, offered):
                    if got != want:
                        failed += 1
                        print(f"FAILED {shell}: {line!r} offers {got}, not {want}")
            check_slow_server(environment)
            check_manual(environment)
        finally:
            stub.close()
    print("completion and manual page:", "as expected" if failed == 0 else f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
