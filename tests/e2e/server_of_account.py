"""A server of another account of the machine. Only root can start one."""

import os
import shutil
import subprocess

import trainyard_server
from trainyard_server import Server


def become(uid, *command):
    """The command, run by that account and no group of ours."""
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *command]


# A root with all that the machine's has but for one name, in a mount namespace of its own.
ROOT_WITHOUT = """set -e
mount -t tmpfs -o mode=0755 root {root}
for path in /*; do
  if [ "$path" = /{name} ]; then continue
  elif [ -L "$path" ]; then cp -P "$path" "{root}$path"
  elif [ -d "$path" ]; then mkdir "{root}$path"; mount --rbind "$path" "{root}$path"
  fi
done
cd {root}
pivot_root . .
umount -l .
cd /
exec {command}
"""


class ServerOfAccount(Server):
    """The account owns its data directory and its home. Both lie in `folder`, which the account may enter, beside a copy of the
    program: it may not be allowed to enter where that was built."""

    def __init__(self, folder, uid, *flags, mounts=None, without=None, around=""):
        """`mounts`: files that this server alone sees in place of others. `without`: a name of the root that this server alone does not
        see. `around`: a command that runs another one, in which it is started."""
        self.uid, self.further_ids = uid, "/etc/subuid" in (mounts or {})
        if not (folder / "trainyard").exists():  # else made by an earlier server in the folder
            self._install(folder, mounts or {}, without, around)
        self.program = folder / "trainyard"
        super().__init__(folder / "data", *flags)

    def _install(self, folder, mounts, without, around):
        own = shutil.copy2(trainyard_server.PROGRAM, folder / "program")
        start = " ".join(become(self.uid, "env", f"HOME={folder}/home", str(own))) + ' "$@"'
        if mounts:
            mount = " && ".join(f"mount --rbind {source} {target}" for target, source in mounts.items())
            start = f"unshare -m --propagation private sh -c '{mount} && exec {start}' sh \"$@\""
        start = f"{around} {start}"
        if without:
            (folder / "root").mkdir()
            (folder / "in-other-root").write_text(ROOT_WITHOUT.format(root=folder / "root", name=without, command=start))
            start = f"unshare -m --propagation private sh {folder}/in-other-root \"$@\""
        (folder / "trainyard").write_text(f"#!/bin/sh\nexec {start}\n")
        for path in own, folder / "trainyard":
            os.chmod(path, 0o755)
        (folder / "home").mkdir()
        os.chown(folder / "home", self.uid, self.uid)

    def start(self):
        (self.data / "environments/runtimes.d").mkdir(parents=True, exist_ok=True)
        for path in [self.data, *self.data.rglob("*")]:
            os.chown(path, self.uid, self.uid, follow_symlinks=False)
        super().start()

    def owner(self, *command):
        """Runs a command as the account."""
        return subprocess.run(become(self.uid, *command), capture_output=True, text=True, timeout=120, cwd="/")
