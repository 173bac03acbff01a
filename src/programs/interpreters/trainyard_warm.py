"""A warm interpreter: imports what jobs imported, and then becomes their programs, one fork each.

sitecustomize.py runs serve() while Python starts, where the server asked for it. The process imports the modules that it
is told, reports, and waits. For each request it forks, and the program's process returns from serve() (trainyard_become.py).
Python then goes on with its start and runs the job's program: no frame of this file is below it.
docs/adr/0097-warm-interpreters.md.

The process itself never reads a request: only its children do. Works with Python 3.8 and later.
"""

import os
import sys

from trainyard_become import become, load_libc, start

_CONTROL, _LISTENER, _OUTPUT = 3, 4, 5
# A thread that its library begins again after a fork. OpenBLAS ends its own before one.
_RENEWED_THREADS = ("jemalloc_bg_thd",)


class _Reads(dict):
    """The variables, and which of them were asked for."""

    def __init__(self, variables):
        super().__init__(variables)
        self.names = set()

    def __getitem__(self, name):
        self.names.add(name)
        return super().__getitem__(name)


def _say(line):
    os.write(_CONTROL, os.fsencode(line + "\n"))


def _state():
    """What an import must not change: descriptors, threads of Python, handlers of signals."""
    import _signal

    handlers = {}
    for number in range(1, _signal.NSIG):
        try:
            handlers[number] = _signal.getsignal(number)
        except ValueError:
            pass
    return set(os.listdir("/proc/self/fd")), len(sys._current_frames()), handlers


def _keeps_threads():
    """Whether there are threads that a fork would lose."""
    if len(os.listdir("/proc/self/task")) == 1:
        return False
    child = os.fork()  # those that libraries end for it end now
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    names = []
    for thread in os.listdir("/proc/self/task"):
        if int(thread) != os.getpid():
            try:
                with open("/proc/self/task/%s/comm" % thread) as file:
                    names.append(file.read().strip())
            except OSError:
                pass  # it has just ended
    return any(name not in _RENEWED_THREADS for name in names)


def _differs(before):
    descriptors, python_threads, handlers = _state()
    for number in descriptors - before[0]:
        try:
            target = os.readlink("/proc/self/fd/" + number)
        except OSError:
            continue  # it was the directory's own
        return "it keeps %s open" % target
    if python_threads != before[1] or _keeps_threads():
        return "it starts a thread"
    if handlers != before[2]:
        return "it handles signals"
    return None


def _import_all(names):
    """@return the modules that could be imported. Ends the process at one that would not survive a fork."""
    tops = {}
    for name in names:
        tops.setdefault(name.partition(".")[0], []).append(name)
    before, done = _state(), []
    for top in tops:
        for name in tops[top]:
            try:
                __import__(name)
            except BaseException:
                continue
            done.append(name)
        _drain()
        reason = _differs(before)
        if reason is not None:
            _say("left %s %s" % (top, reason))
            os._exit(3)
    return done


def _places(texts):
    """Where modules keep one of these texts, or a path below it: the longest one, since the home is below the directory."""
    found, paths = [], getattr(sys.modules.get("pathlib"), "PurePath", ())
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if name.startswith("__") or not (type(value) in (str, bytes) or issubclass(type(value), paths)):
                continue
            path = os.fspath(value)
            for text in sorted(texts, key=len, reverse=True):
                form = text if type(path) is str else os.fsencode(text)
                if path == form or path.startswith(form + form[:1]):
                    found.append((module, name, value, text))
                    break
    return found


def _prepare():
    """Ends with the server, and is not what the kernel spares. Root gets an empty network: others could not leave it."""
    before = set(sys.modules)
    ctypes, libc = load_libc()
    libc.prctl(1, 9, 0, 0, 0)  # PR_SET_PDEATHSIG, SIGKILL
    if os.geteuid() == 0:
        libc.unshare(0x40000000 | 0x08000000)
    with open("/proc/self/oom_score_adj", "r+") as file:
        if int(file.read()) < 0:
            file.write("0")
    for name in set(sys.modules) - before:
        del sys.modules[name]


def _drain():
    """What the imports said: nobody reads it, and a full pipe would stop the next one."""
    os.set_blocking(_OUTPUT, False)
    try:
        while os.read(_OUTPUT, 1 << 16):
            pass
    except BlockingIOError:
        pass


def _packages(done):
    """The packages that are not Python's own, those with the most modules first."""
    counts = {}
    for name in sys.modules:
        top = name.partition(".")[0]
        counts[top] = counts.get(top, 0) + 1
    own = {name.partition(".")[0] for name in done
           if not name.startswith("_") and "-packages" in (getattr(sys.modules[name].__spec__, "origin", None) or "")}
    return sorted(own, key=lambda name: (-counts.get(name, 0), name))


def _report(done, tops, reads):
    for kind, names in (("module", done), ("package", _packages(done)), ("top", tops),
                        ("read", sorted(os.fsdecode(name) for name in reads.names))):
        for name in names:
            _say(kind + " " + name)
    _say("ready")


def _next_child():
    """Returns in a child, with its connection. Ends this process when the server has ended."""
    import _socket
    import select

    listener = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, _LISTENER)
    poll = select.poll()
    poll.register(_CONTROL, select.POLLIN)
    poll.register(_LISTENER, select.POLLIN)
    children = set()
    while True:
        ready = [number for number, _ in poll.poll(1000 if children else None)]
        for child in list(children):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended != 0:
                children.remove(child)
                if status == 0:
                    _say("served")
        if _CONTROL in ready:
            os._exit(0)
        if _LISTENER not in ready:
            continue
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, listener._accept()[0])
        peer = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
        if int.from_bytes(peer[4:8], sys.byteorder) not in (0, os.geteuid()):
            connection.close()
            continue
        child = os.fork()
        if child == 0:
            return connection
        connection.close()
        children.add(child)


def serve(on_start):
    """Returns in each job's process; `on_start` is called there before. @return the modules that were imported"""
    texts = (os.environ["HOME"], os.getcwd(), sys.executable)
    names = [name for name in os.environ.pop("TRAINYARD_WARM_MODULES").split(",") if name]
    _prepare()
    started = set(sys.modules)
    variables = os.environ._data  # which os.environb shares
    reads = os.environ._data = _Reads(variables)
    done = _import_all(names)
    os.environ._data = variables
    changes = {name: value for name, value in reads.items() if variables.get(name) != value}
    imported = set(sys.modules)
    import runpy  # noqa: F401

    with_runpy = set(sys.modules)
    import _socket  # noqa: F401
    import importlib.util  # noqa: F401
    import json  # noqa: F401 - this one and the next for the start module of `trainyard run`
    import select  # noqa: F401
    import shutil  # noqa: F401
    import types  # noqa: F401

    load_libc()
    places = _places(texts)
    ours = set(sys.modules) - imported
    tops = {name.partition(".")[0] for name in imported - started}
    _report(done, sorted(tops), reads)
    connection = _next_child()
    words = become(connection, texts, places)
    on_start()
    of_runpy = with_runpy if start(words, texts[2], tops) else {"runpy"}  # which Python imports next
    for name, value in changes.items():  # not before: what start() executes or shows has not imported anything
        os.environb.setdefault(name, value)
    for name in ours - of_runpy | {__name__, become.__module__}:
        sys.modules.pop(name, None)
    return imported
