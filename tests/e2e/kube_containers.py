"""Containers as processes of this machine: what a hollow node runs instead of them."""

import base64
import contextlib
import os
import pathlib
import re
import signal
import subprocess

from slurm_cluster import children, kill_with_descendants

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
REFERENCE = re.compile(r"\$(?:\$|\(([^()]+)\))")
STARTS = "starts-a-pod"  # $0 of the shell that makes a container, until it has become the container's program
# What container runtimes leave to root, without what could change this machine.
ROOTS_RIGHTS = "chown,dac_override,fowner,fsetid,kill,setgid,setuid,net_bind_service"

# The folder that the container sees as / is this machine's, but nothing that it writes stays. It has its own /tmp, and the pod's volumes.
# A chroot, not a pivot: so it can make no user namespace, as with the seccomp profile RuntimeDefault.
CONTAINER = r"""
set -e
here=$1 volumes=$2; shift 2
mount -t tmpfs -o mode=755 pod "$here"
mkdir "$here/upper" "$here/work" "$here/root"
root=$here/root
mount -t overlay -o "lowerdir=/,upperdir=$here/upper,workdir=$here/work" pod "$root"
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
exec chroot "$root" "$@"
"""


class CannotStart(Exception):
    """As a kubelet says it: the reason and the message of a container that waits."""

    def __init__(self, reason, message):
        super().__init__(f"{reason}: {message}")
        self.reason, self.message = reason, message


class ContainerProcess:
    """A container of a pod, in a PID and a mount namespace of its own. It ends with the thread that has started it."""

    def __init__(self, pod, container, folder, mounts, api):
        """Starts it. CannotStart: a Secret is not there.

        @param folder  the pod's own; what the container prints is in its file "log"
        @param mounts  [(a file or folder here, or "memory", where it is mounted)]
        """
        self.why = None  # the reason of who has killed it
        self.was_killed = self.was_told = False
        variables = variables_of(pod, container, api)
        layers = pathlib.Path(folder) / "layers" / container["name"]
        layers.mkdir(parents=True)
        command = [expand(word, variables) for word in container.get("command", []) + container.get("args", [])]
        shell = ["sh", "-c", CONTAINER, STARTS, str(layers), str(len(mounts)), *(str(word) for mount in mounts for word in mount)]
        # The process 1 of the first namespace ends with its parent, and all below it. The container's would not: it loses that with its
        # first account. A shell between them tells how it has ended; unshare does not if that was SIGKILL.
        words = ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--kill-child=KILL", "unshare", "--mount", "--pid",
                 "sh", "-c", '"$@"; exit $?', "sh", *shell, *account_words(pod["spec"], container), *command]
        with open(pathlib.Path(folder) / "log", "ab") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=variables, cwd="/", start_new_session=True)

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
        """SIGTERM for its program, once. False: it has not begun yet."""
        pid = self.main()
        if pid is None or self.was_told:
            return self.was_told
        with contextlib.suppress(ProcessLookupError):
            held = os.pidfd_open(pid)
            try:
                if self.main() == pid:
                    signal.pidfd_send_signal(held, signal.SIGTERM)
                    self.was_told = True
            finally:
                os.close(held)
        return self.was_told

    def kill(self, why=None):
        """With all of its processes, which are gone when this returns. `why`: the reason of its end, as "OOMKilled"."""
        self.why, self.was_killed = why, True
        kill_with_descendants(self.process)


def setting(spec, container, name):
    """That of the security context of the container, else of its pod; None: of neither."""
    return container.get("securityContext", {}).get(name, spec.get("securityContext", {}).get(name))


def user_of(spec, container):
    return setting(spec, container, "runAsUser") or 0


def account_words(spec, container):
    """The command that becomes the container's user, with the rights that it is left."""
    groups = spec.get("securityContext", {}).get("fsGroup")
    rights = container.get("securityContext", {})
    words = ["setpriv", f"--reuid={user_of(spec, container)}", f"--regid={setting(spec, container, 'runAsGroup') or 0}",
             "--clear-groups" if groups is None else f"--groups={groups}", "--inh-caps=-all"]
    dropped = "ALL" in rights.get("capabilities", {}).get("drop", [])
    words.append("--bounding-set=-all" + ("" if dropped else "".join(",+" + name for name in ROOTS_RIGHTS.split(","))))
    return [*words, *([] if rights.get("allowPrivilegeEscalation", True) else ["--no-new-privs"]), "--"]


def expand(text, variables):
    """What Kubernetes makes of $(NAME) and $$ in a command."""
    return REFERENCE.sub(lambda found: "$" if found[1] is None else variables.get(found[1], found[0]), text)


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
