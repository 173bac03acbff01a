"""The children of a warm interpreter: each becomes a job's program, in every way that can be seen.

trainyard_warm.py forks, and calls become() in the child. Its grandchild, in the replica's sandbox, returns from it; then
start() sets what Python's own start will find. Works with Python 3.8 and later.
"""

import os
import sys

_LOG = 100
_REQUEST_MAX = 8 << 20
_WAIT_S = 20.0
# In this order: a network belongs to its owner's users, the rest to the sandbox's.
_NAMESPACES = (("owner", "user", 0x10000000), ("net", "net", 0x40000000), ("user", "user", 0x10000000),
               ("mnt", "mnt", 0x00020000), ("uts", "uts", 0x04000000), ("ipc", "ipc", 0x08000000),
               ("pid", "pid", 0x20000000))
_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_READ, _PR_CAPBSET_DROP = 4, 22, 23, 24
_PR_SET_MM, _PR_SET_MM_MAP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 35, 14, 38, 47


class _Failure(Exception):
    pass


class _Command(BaseException):
    def __init__(self, command):
        self.command = command


def load_libc():
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.sbrk.restype = ctypes.c_void_p
    return ctypes, libc


class _Request:
    """A request: NUL-terminated words, in pairs of a key and a value; descriptors have keys "fd" and come in order."""

    def __init__(self, words, descriptors):
        self._values, numbers = {}, iter(descriptors)
        self.descriptors = {}
        for key, value in zip(words[::2], words[1::2]):
            if key == b"fd":
                self.descriptors.setdefault(os.fsdecode(value), []).append(next(numbers))
            else:
                self._values.setdefault(os.fsdecode(key), []).append(value)

    def all(self, key):
        return self._values.get(key, [])

    def text(self, key, default=""):
        return os.fsdecode(self.all(key)[0]) if key in self._values else default

    def number(self, key, default=0):
        return int(self.text(key, str(default)))


def _receive(connection):
    import _socket

    data, ancillary, _, _ = connection.recvmsg(1 << 16, _socket.CMSG_SPACE(64 * 4))
    descriptors = []
    for level, kind, content in ancillary:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            descriptors += [int.from_bytes(content[i:i + 4], sys.byteorder) for i in range(0, len(content) - 3, 4)]
    size = int.from_bytes(data[:4], sys.byteorder)
    if len(data) < 4 or size > _REQUEST_MAX:
        raise _Failure("not a request")
    data = data[4:]
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise _Failure("the request ended")
        data += more
    return _Request(data.split(b"\0"), descriptors)


def _check(ctypes, result, step):
    if result < 0:
        raise _Failure("%s: %s" % (step, os.strerror(ctypes.get_errno())))
    return result


def _enter_namespaces(request):
    ctypes, libc = load_libc()
    ours = {kind: os.stat("/proc/self/ns/" + kind) for _, kind, _ in _NAMESPACES}  # while /proc shows us
    for name, kind, flag in _NAMESPACES:
        for descriptor in request.descriptors.get(name, []):
            if not os.path.samestat(os.fstat(descriptor), ours[kind]):
                _check(ctypes, libc.setns(descriptor, flag), "enter the " + name + " namespace")


def _set_limits(ctypes, libc, request):
    for value in request.all("limit"):
        number, soft, hard = (int(part) for part in value.split(b" "))
        pair = (ctypes.c_uint64 * 2)(soft, hard)
        _check(ctypes, libc.setrlimit(number, ctypes.byref(pair)), "set a limit")
    priority = request.number("nice")
    if os.getpriority(os.PRIO_PROCESS, 0) != priority:
        os.setpriority(os.PRIO_PROCESS, 0, priority)
    with open("/proc/self/oom_score_adj", "r+") as file:
        if file.read().strip() != request.text("oom_score_adj"):
            file.write(request.text("oom_score_adj"))


def _join_groups(request):
    for descriptor in request.descriptors.get("procs", []):
        os.write(descriptor, b"0")
    for descriptor in request.descriptors.get("cgroup", []):
        procs = os.open("cgroup.procs", os.O_WRONLY | os.O_CLOEXEC, dir_fd=descriptor)
        os.write(procs, b"0")
        os.close(procs)


def _become_root(ctypes, libc, request):
    for descriptor in request.descriptors.get("users", []):
        _check(ctypes, libc.setns(descriptor, 0x10000000), "enter its user namespace")
        os.setgroups([])
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)


def _filter(ctypes, digits):
    content = bytes.fromhex(digits.decode("ascii"))
    code = ctypes.create_string_buffer(content, len(content))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    return Program(len(content) // 8, ctypes.addressof(code)), code


def _seccomp(ctypes, libc, request, content, flags):
    program, code = _filter(ctypes, content)
    number = ctypes.c_long(request.number("seccomp_call"))
    result = -1
    for more in flags:
        result = libc.syscall(number, ctypes.c_ulong(1), ctypes.c_ulong(more), ctypes.byref(program))
        if result >= 0 or ctypes.get_errno() != 22:
            break
    del code
    return result


def _install_doors(ctypes, libc, request):
    """As ConnectDoors::Install: an errno, with the listener's descriptor if that is 0."""
    import _socket

    for asker in request.descriptors.get("doors", []):
        spec_allow, new_listener, killable = 4, 8, 32
        listener = _seccomp(ctypes, libc, request, request.all("connect_filter")[0],
                            [new_listener | spec_allow | killable, new_listener | spec_allow, new_listener])
        error = 0 if listener >= 0 else ctypes.get_errno()
        rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, listener.to_bytes(4, sys.byteorder))] if not error else []
        end = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, asker)
        end.sendmsg([error.to_bytes(4, sys.byteorder)], rights)
        end.close()
        if not error:
            os.close(listener)


def _confine(ctypes, libc, request):
    """As confinement.cc, and then what exec does to the rights of a user that is not root."""
    _check(ctypes, libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "set no_new_privs")
    kept = request.number("kept_rights")
    number = 0
    while libc.prctl(_PR_CAPBSET_READ, number, 0, 0, 0) >= 0:
        if not kept >> number & 1 and libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) != 0 and ctypes.get_errno() != 1:
            raise _Failure("drop a right")
        number += 1
    libc.prctl(_PR_CAP_AMBIENT, 4, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice
    _check(ctypes, libc.capget(ctypes.byref(header), ctypes.byref(sets)), "read the rights")
    for half in (0, 1):
        permitted = sets[3 * half + 1] & kept >> 32 * half & 0xFFFFFFFF if os.geteuid() == 0 else 0
        sets[3 * half], sets[3 * half + 1], sets[3 * half + 2] = permitted, permitted, 0
    _check(ctypes, libc.capset(ctypes.byref(header), ctypes.byref(sets)), "drop rights")
    _check(ctypes, _seccomp(ctypes, libc, request, request.all("filter")[0], [4, 0]), "install the filter")


def _show_command(ctypes, libc, command, variables):
    """What /proc/self/cmdline and /proc/self/environ show."""
    arguments = b"".join(word + b"\0" for word in command)
    content = arguments + b"".join(variable + b"\0" for variable in variables)
    at = libc.mmap(None, len(content), 3, 0x22, -1, 0)
    ctypes.memmove(at, content, len(content))
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    field = lambda number: int(fields[number - 3])  # noqa: E731
    numbers = [field(26), field(27), field(45), field(46), field(47), libc.sbrk(0), field(28), at, at + len(arguments),
               at + len(arguments), at + len(content), 0]
    layout = (ctypes.c_uint64 * 13)(*numbers, 0xFFFFFFFF << 32)  # no new auxv; no new exe
    _check(ctypes, libc.prctl(_PR_SET_MM, _PR_SET_MM_MAP, ctypes.byref(layout), ctypes.sizeof(layout), 0),
           "show the command")


def _wait_for_parent():
    import time

    deadline = time.monotonic() + _WAIT_S
    while os.getppid() != 1:
        if time.monotonic() > deadline:
            raise _Failure("the sandbox's first process is another")
        os.sched_yield()


def _set_paths():
    """sys.prefix and sys.path of the job's own packages, as `site` sets them. May run code of these packages."""
    import site

    ends = [at for at, path in enumerate(sys.path) if path.endswith("lib-dynload")]
    sys.path[:] = sys.path[:ends[0] + 1]
    sys.prefix, sys.exec_prefix = sys.base_prefix, sys.base_exec_prefix
    site.PREFIXES[:] = [sys.prefix, sys.exec_prefix]
    site.ENABLE_USER_SITE = site.USER_SITE = site.USER_BASE = None
    known = site.venv(site.removeduppaths())
    if site.ENABLE_USER_SITE is None:
        site.ENABLE_USER_SITE = site.check_enableusersite()
    site.addsitepackages(site.addusersitepackages(known))
    settings = sys.modules.get("sysconfig")
    if settings is not None:
        settings._PREFIX, settings._EXEC_PREFIX = (os.path.normpath(sys.prefix), os.path.normpath(sys.exec_prefix))
        settings._CONFIG_VARS = None
    distributions = sys.modules.get("pkg_resources")
    if distributions is not None:
        distributions._initialize_master_working_set()


def _renew():
    """What each interpreter draws for itself."""
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None:
        processes.current_process()._config["authkey"] = processes.AuthenticationString(os.urandom(32))
    threads = sys.modules.get("threading")
    if threads is not None and hasattr(threads.main_thread(), "_set_native_id"):
        threads.main_thread()._set_native_id()
    numbers = sys.modules.get("numpy.random")
    if numbers is not None:
        numbers.seed()
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.default_generator.seed()


def _arrange(request, connection):
    """Only 0, 1, 2, the log's pipe and the connection stay open."""
    for name, number in (("stdout", 1), ("stderr", 2), ("structured", _LOG)):
        for descriptor in request.descriptors.get(name, []):
            os.dup2(descriptor, number)
    keep = {0, 1, 2, connection.fileno()} | ({_LOG} if "structured" in request.descriptors else set())
    for number in [int(name) for name in os.listdir("/proc/self/fd")]:
        if number not in keep:
            try:
                os.close(number)
            except OSError:
                pass  # the directory's own


def _set_variables(variables):
    os.environ.clear()
    for variable in variables:
        name, _, value = variable.partition(b"=")
        os.environ[os.fsdecode(name)] = os.fsdecode(value)


def _become(request, connection, texts, places):
    """All that a sandbox's first process does between fork and exec, and exec itself."""
    ctypes, libc = load_libc()
    _wait_for_parent()
    os.setsid()
    os.umask(0o022)
    command, variables = request.all("argv"), request.all("env")
    _join_groups(request)
    _set_limits(ctypes, libc, request)
    _become_root(ctypes, libc, request)
    os.chdir(request.all("directory")[0])
    _show_command(ctypes, libc, command, variables)
    libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
    _install_doors(ctypes, libc, request)
    _confine(ctypes, libc, request)
    _arrange(request, connection)
    _set_variables(variables)
    words = [os.fsdecode(word) for word in command]
    sys.executable = words[0]
    new = dict(zip(texts, (os.environ.get("HOME", ""), os.getcwd(), sys.executable)))
    for module, name, value, text in places:
        path, kind = os.fspath(value), os.fsencode if isinstance(value, bytes) else str
        setattr(module, name, type(value)(kind(new[text]) + path[len(kind(text)):]))
    _renew()
    return words


def _command_of(arguments):
    """The command of a program of `trainyard run`, whose module lays out its files and executes it. None: another one."""
    import importlib.util

    execv, modules, here = os.execv, set(sys.modules), os.getcwd()

    def taken(path, command):
        raise _Command(command[1:]) if path == sys.executable == command[0] else _Failure("another program")

    sys.argv[:] = arguments[:1] + arguments[2:]
    sys.path.insert(0, here)
    try:
        spec = importlib.util.find_spec(arguments[1] + ".__main__")
        os.execv = taken
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    except _Command as found:
        return found.command
    except BaseException:
        pass  # it fails once more, where it can be seen
    finally:
        os.execv = execv
        sys.path.remove(here)
        sys.path_importer_cache.pop(here, None)
        for name in set(sys.modules) - modules:
            del sys.modules[name]
    return None


def _called(function):
    """What Python may call with any two arguments to have the function called with none, without a frame of its own."""
    from _collections import defaultdict

    return property(defaultdict(function).__getitem__).__get__


def _script(path):
    """The program of a file, as a function whose only frame is that of the file."""
    import types
    from importlib.machinery import SourceFileLoader

    if sys.version_info >= (3, 9) and not os.path.isabs(path):
        path = os.getcwd() + os.sep + path
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", 0, True)
    main = sys.modules["__main__"].__dict__
    main.update(__file__=path, __cached__=None, __loader__=SourceFileLoader("__main__", path))
    return types.FunctionType(code, main)


def _program(words, tops):
    """The program's command, and what Python calls to run it. `tops`: the top-level modules that are already imported."""
    import runpy
    from _functools import partial

    python, arguments = words[0], words[1:]
    if arguments[:2] == ["-m", "trainyard_program"]:
        arguments = _command_of(arguments) or arguments
    if any(name.partition(".")[0] in tops for name in os.listdir()):  # Python finds the job's own module first
        os.execve(python, [python] + arguments, os.environ)
    if arguments[0] == "-m":
        return arguments, partial(runpy._run_module_as_main, arguments[1])
    if os.path.dirname(os.path.realpath(arguments[0])) == os.getcwd():  # what Python adds to sys.path
        try:
            return arguments, _script(arguments[0])
        except (SyntaxError, ValueError, OSError):
            pass  # Python itself shows what is wrong
    os.execve(python, [python] + arguments, os.environ)  # not what imports have set in C


def start(words, python, tops):
    """Sets what Python's own start will find when serve() has returned. `python`: the mother's; `tops`: what it imported."""
    import runpy

    if words[0] != python:
        _set_paths()
    arguments, function = _program(words, tops)
    runpy._run_module_as_main = _called(function)
    sys.argv[:] = ["-m"] + arguments[2:] if arguments[0] == "-m" else arguments
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = words[:1] + arguments
    if arguments != words[1:]:
        ctypes, libc = load_libc()
        _show_command(ctypes, libc, [os.fsencode(word) for word in words[:1] + arguments],
                      [name + b"=" + value for name, value in os.environb.items()])
    return arguments[0] == "-m"


def become(connection, texts, places):
    """Returns only in the program's process, when it has been told to go on."""
    try:
        connection.settimeout(_WAIT_S)
        request = _receive(connection)
        _enter_namespaces(request)
        middle = os.fork()
        if middle != 0:
            os._exit(0 if os.waitpid(middle, 0)[1] == 0 else 1)
        os.pwrite(request.descriptors["last_pid"][0], b"1", 0)  # the program has the number of a fresh start
        if os.fork() != 0:
            os._exit(0)
        words = _become(request, connection, texts, places)
        connection.send(b"%d" % os.getpid())
        if connection.recv(1) != b"g":
            os._exit(1)
        connection.close()
    except BaseException as error:
        try:
            connection.send(b"!" + ("%s: %s" % (type(error).__name__, error)).encode("utf-8", "replace")[:500])
        finally:
            os._exit(1)
    return words
