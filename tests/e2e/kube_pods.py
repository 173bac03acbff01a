"""Pods as processes of this machine: what a hollow node runs instead of containers."""

import base64
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess

from slurm_cluster import children, kill_with_descendants

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
REFERENCE = re.compile(r"\$(?:\$|\(([^()]+)\))")
STARTS = "starts-a-pod"  # $0 of the shell that makes a container, until it has become the container's program

# The folder that the pod sees as / is this machine's, but nothing that it writes stays. It has its own /tmp, and its volumes.
# A chroot, not a pivot: so the pod can make no user namespace, as with the seccomp profile RuntimeDefault.
CONTAINER = r"""
set -e
here=$1 user=$2 volumes=$3; shift 3
mount -t tmpfs -o mode=755 pod "$here/layers"
mkdir "$here/layers/upper" "$here/layers/work" "$here/layers/root"
root=$here/layers/root
mount -t overlay -o "lowerdir=/,upperdir=$here/layers/upper,workdir=$here/layers/work" pod "$root"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
while [ "$volumes" -gt 0 ]; do
  if [ -f "$1" ]; then mkdir -p "$(dirname "$root$2")"; touch "$root$2"; else mkdir -p "$root$2"; fi
  case $1 in
    memory) mount -t tmpfs -o mode=1777 shm "$root$2" ;;
    *) mount --bind "$1" "$root$2" ;;
  esac
  shift 2; volumes=$((volumes - 1))
done
exec chroot "$root" setpriv --reuid="$user" --regid="$user" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all -- "$@"
"""


class CannotStart(Exception):
    """As a kubelet says it: the reason and the message of a container that waits."""

    def __init__(self, reason, message):
        super().__init__(f"{reason}: {message}")
        self.reason, self.message = reason, message


def expand(text, variables):
    """What Kubernetes makes of $(NAME) and $$ in a command."""
    return REFERENCE.sub(lambda found: "$" if found[1] is None else variables.get(found[1], found[0]), text)


class PodProcess:
    """The first container of a pod, in a PID and a mount namespace of its own. It ends with the thread that has started it."""

    def __init__(self, pod, folder, api, *, image=None, kept=None):
        """Starts it. `folder`: its own. CannotStart: a Secret is not there.

        @param image  files that the container has beside this machine's: path -> where it is here
        @param kept  folders that outlive the pod: path in the pod -> folder here
        """
        self.folder = pathlib.Path(folder)
        self.was_killed = False
        spec = pod["spec"]
        container = spec["containers"][0]
        variables = variables_of(pod, container, api)
        self.user = spec.get("securityContext", {}).get("runAsUser", 0)
        (self.folder / "layers").mkdir(parents=True)
        mounts = self._make_volumes(spec, container, kept or {}) + [(str(source), path) for path, source in (image or {}).items()]
        command = [expand(word, variables) for word in container.get("command", []) + container.get("args", [])]
        shell = ["sh", "-c", CONTAINER, STARTS, str(self.folder), str(self.user), str(len(mounts)), *(word for mount in mounts for word in mount)]
        # The process 1 of the first namespace ends with its parent, and all below it. The container's would not: it loses that with its
        # first account. A shell between them tells how it has ended; unshare does not if that was SIGKILL.
        words = ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--kill-child=KILL", "unshare", "--mount", "--pid",
                 "sh", "-c", '"$@"; exit $?', "sh", *shell, *command]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=variables, cwd="/", start_new_session=True)

    def _make_volumes(self, spec, container, kept):
        """[(folder or "memory", where it is mounted)]"""
        volumes = {volume["name"]: volume for volume in spec.get("volumes", [])}
        mounts = []
        for mount in container.get("volumeMounts", []):
            volume = volumes[mount["name"]]
            if volume.get("emptyDir", {}).get("medium") == "Memory":
                mounts.append(("memory", mount["mountPath"]))
                continue
            folder = self.folder / "volumes" / mount["name"]
            folder.mkdir(parents=True, exist_ok=True)
            os.chown(folder, 0, self.user)
            folder.chmod(0o2777)  # as fsGroup gives it
            mounts.append((str(folder), mount["mountPath"]))
            for path, source in kept.items():
                if path.startswith(mount["mountPath"] + "/"):
                    self._make_owned(folder, path.removeprefix(mount["mountPath"] + "/"))
                    mounts.append((str(source), path))
        return mounts

    def _make_owned(self, folder, path):
        for name in path.split("/"):
            folder = folder / name
            folder.mkdir(mode=0o700, exist_ok=True)
            os.chown(folder, self.user, self.user)

    def wait(self):
        """Its exit status: 128 + N after signal N."""
        status = self.process.wait()
        return 137 if self.was_killed else status

    def is_running(self):
        return self.process.poll() is None

    def main(self):
        """The process id of the container's program; None: it has not begun, or has ended."""
        pid = self.process.pid
        for _ in range(2):  # the processes 1 of the two namespaces
            below = children(pid)
            if not below:
                return None
            pid = below[0]
        with contextlib.suppress(OSError):
            command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            return None if STARTS.encode() in command or command.startswith((b"chroot\0", b"setpriv\0")) else pid
        return None

    def terminate(self):
        """SIGTERM for its program. False: it has not begun yet."""
        pid = self.main()
        if pid is None:
            return False
        with contextlib.suppress(ProcessLookupError):
            held = os.pidfd_open(pid)
            try:
                if self.main() == pid:
                    signal.pidfd_send_signal(held, signal.SIGTERM)
            finally:
                os.close(held)
        return True

    def kill(self):
        """With all of its processes, which are gone when this returns."""
        self.was_killed = True
        kill_with_descendants(self.process)

    def remove(self):
        """What it has written, once it has ended. Its log stays."""
        shutil.rmtree(self.folder / "volumes", ignore_errors=True)


def variables_of(pod, container, api):
    """The container's environment."""
    values = {"PATH": PATH, "HOSTNAME": pod["metadata"]["name"]}
    fields = {"spec.nodeName": pod["spec"]["nodeName"], "status.podIP": "127.0.0.1", "status.hostIP": "127.0.0.1",
              "metadata.name": pod["metadata"]["name"], "metadata.namespace": pod["metadata"]["namespace"]}
    for variable in container.get("env", []):
        source = variable.get("valueFrom", {})
        if "secretKeyRef" in source:
            value = secret_value(pod["metadata"]["namespace"], source["secretKeyRef"], api)
        elif "fieldRef" in source:
            value = fields[source["fieldRef"]["fieldPath"]]
        else:
            value = expand(variable.get("value", ""), values)
        values[variable["name"]] = value
    return values


def secret_value(namespace, reference, api):
    status, secret = api.call("GET", f"/api/v1/namespaces/{namespace}/secrets/{reference['name']}")
    if status != 200:
        raise CannotStart("CreateContainerConfigError", f'secret "{reference["name"]}" not found')
    if reference["key"] not in secret.get("data", {}):
        raise CannotStart("CreateContainerConfigError", f"couldn't find key {reference['key']} in Secret {namespace}/{reference['name']}")
    return base64.b64decode(secret["data"][reference["key"]]).decode()
