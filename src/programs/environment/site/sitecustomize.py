"""Sends Python's logging to the replica's supervisor, one JSON object per line, as the original's images did.

The supervisor names an open pipe in TRAINYARD_LOG_FD. Without it, or when it is not what this process inherited, nothing
happens. `logging` itself is only prepared when the program imports it: interpreter start must stay cheap. With
TRAINYARD_TPU_AS_CPU, the module beside this one puts the CPU in the place of TensorFlow's TPUs.
Works with Python 3.7 and later; touches nothing but the root logger, logging.basicConfig and sys.excepthook.

Programs log to their very end: destructors do, when Python has taken its modules apart. What runs then has all that it
needs in closures, imports nothing, and lets no error of its own out.
"""

import os
import sys


def _sink():
    """A function that writes the members of a record as a line to the pipe; None without a pipe.

    It answers False when the pipe is gone: closed by a daemon, or its number reused for a file of the program's own."""
    fstat, write, set_blocking, quote = os.fstat, os.write, os.set_blocking, None

    def look():
        found = fstat(descriptor)
        return found.st_dev, found.st_ino, found.st_mode & 0o170000

    try:
        descriptor = int(os.environ["TRAINYARD_LOG_FD"])
        identity = look()
    except (KeyError, ValueError, OverflowError, OSError):
        return None
    if identity[2] not in (0o010000, 0o140000):  # a FIFO or a socket
        return None

    def value_of(value):
        if isinstance(value, int):
            return int.__repr__(value)
        if isinstance(value, float):
            return float.__repr__(value) if value - value == 0 else "null"  # JSON has no infinity
        return quote(value if isinstance(value, str) else str(value))

    torn = False  # an exception (a signal's) came into the middle of a line

    def put(fields):
        nonlocal torn
        text = "{" + ", ".join([quote(name) + ": " + value_of(value) for name, value in fields]) + "}\n"
        # "replace": half of a surrogate pair has no form in UTF-8, nor a valid one in JSON.
        line = ("\n" + text if torn else text).encode("utf-8", "replace")
        if look() != identity:
            return False
        torn = True
        while line:
            try:
                line = line[write(descriptor, line):]
            except BlockingIOError:  # the program has changed the pipe, which is to hold it back when it is full
                set_blocking(descriptor, True)
        torn = False
        return True

    def sink(fields):
        try:
            return put(fields)
        except OSError:
            return False

    def prepare():
        nonlocal quote
        from json.encoder import encode_basestring as quote

    def again():
        nonlocal identity
        identity = look()

    sink.prepare, sink.again = prepare, again
    return sink


def _severity(levelno):
    for bound, name in ((50, "CRITICAL"), (40, "ERROR"), (30, "WARNING"), (20, "INFO")):
        if levelno >= bound:
            return name
    return "DEBUG"


def _fields(severity, message, created, levelname, pathname, lineno, thread):
    seconds = int(created)
    return (("severity", severity), ("message", message), ("created", created), ("levelname", levelname),
            ("pathname", pathname), ("lineno", lineno), ("thread", thread),
            ("timestampSeconds", seconds), ("timestampNanos", int((created - seconds) * 1e9)))


def _handler(logging, sink):
    sink.prepare()
    is_finalizing, severity_of, fields_of, standard = sys.is_finalizing, _severity, _fields, sys
    write = os.write

    def say(record, message):
        """To stderr, for want of the pipe."""
        text = "%s:%s:%s\n" % (record.levelname, record.name, message)
        if is_finalizing():  # a thread that Python has ended may have stderr's lock, which would be fatal
            write(2, text.encode("utf-8", "replace"))
        elif standard.stderr is not None:
            standard.stderr.write(text)

    def send(record, message):
        if not sink(fields_of(severity_of(record.levelno), message, record.created, record.levelname,
                              record.pathname, record.lineno, record.thread)):
            say(record, message)

    def text_at_the_end(record):
        message = str(record.msg)
        return message % record.args if record.args else message

    class SupervisorHandler(logging.Handler):
        def emit(self, record):
            try:
                try:
                    message = self.format(record)
                except Exception:
                    if not is_finalizing():
                        raise
                    message = text_at_the_end(record)  # the formatter's module may be gone
            except RecursionError:
                raise
            except Exception:
                self.complain(record)
                return
            try:
                send(record, message)
            except RecursionError:
                raise
            except Exception:
                pass

        def complain(self, record):
            """The program's own mistake, shown as ever; but not when its end is the reason."""
            try:
                if not is_finalizing():
                    self.handleError(record)
            except Exception:
                pass

    return SupervisorHandler()


def _prepare_logging(logging, sink):
    level = {"DEBUG": 10, "WARNING": 30, "ERROR": 40, "CRITICAL": 50}.get(os.environ.get("CLOUD_ML_LOG_LEVEL", ""), 20)
    handler = _handler(logging, sink)
    root = logging.root
    root.addHandler(handler)
    root.setLevel(level)
    configure = logging.basicConfig

    def basic_config(**settings):
        # Configured before, by the program or its libraries: then it must go on as without this file.
        ours = handler in root.handlers
        if ours:
            root.removeHandler(handler)
        try:
            others = bool(root.handlers)
            if not ours or "filename" in settings or settings.get("handlers") is not None \
                    or settings.get("stream") not in (None, sys.stdout, sys.stderr):
                configure(**settings)
                return
            # To the console: its lines would be these records once more, without their severity. The level counts.
            if others and not settings.get("force"):
                return
            before = root.handlers[:]
            configure(**settings)
            for added in root.handlers[:]:
                if added not in before:
                    root.removeHandler(added)
        finally:
            if ours:
                root.addHandler(handler)

    basic_config.__doc__ = configure.__doc__
    basic_config.__name__ = basic_config.__qualname__ = "basicConfig"
    logging.basicConfig = basic_config


class _LoggingFinder:
    """Waits for `import logging`, lets the standard finders do it, and adds the handler right after."""

    def __init__(self, sink):
        self.sink = sink

    def find_spec(self, name, path=None, target=None):
        if name != "logging":
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                break
        else:
            return None
        if spec.origin and os.path.dirname(os.path.dirname(spec.origin)) == os.path.dirname(os.__file__):
            execute, sink = spec.loader.exec_module, self.sink

            def exec_module(module):
                execute(module)
                _prepare_logging(module, sink)

            spec.loader.exec_module = exec_module
        return spec


def _excepthook(sink):
    plain = sys.excepthook

    def hook(kind, value, trace):
        if issubclass(kind, KeyboardInterrupt):
            return plain(kind, value, trace)
        try:
            import threading
            import time
            import traceback

            last = trace
            while last is not None and last.tb_next is not None:
                last = last.tb_next
            text = "".join(traceback.format_exception(kind, value, trace)).rstrip("\n")
            sink.prepare()
            written = sink(_fields(
                "ERROR", text, time.time(), "ERROR", last.tb_frame.f_code.co_filename if last else "",
                last.tb_lineno if last else 0, threading.get_ident()))
        except Exception:
            written = False
        if not written:
            plain(kind, value, trace)

    return hook


def _next_sitecustomize():
    """Runs the sitecustomize that this one hides, if there is one: a distribution's, or a runtime's."""
    here = os.path.dirname(os.path.abspath(__file__))
    # Not importlib: these two are its parts, and there from the beginning.
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder

    spec = PathFinder.find_spec("sitecustomize", [p for p in sys.path if os.path.abspath(p or ".") != here])
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)


def _teach(known):
    """At the end, notes the modules of the runtime that the program imported, for warm interpreters: two levels."""
    import atexit

    here, job = os.path.dirname(os.path.abspath(__file__)), os.path.join(sys.prefix, "trainyard-runtime")
    own = (here, sys.prefix) if os.path.exists(job) else (here,)  # this file's, and the job's packages
    roots = tuple(path + os.sep for path in sys.path if os.path.isabs(path) and not path.startswith(own))
    note, process = os.path.join(os.environ.get("TMPDIR", "/tmp"), ".trainyard-modules"), os.getpid()
    getpid, write_to = os.getpid, open

    def teach():
        try:
            names = []
            for name, module in list(sys.modules.items()) if getpid() == process else ():
                origin = getattr(getattr(module, "__spec__", None), "origin", None)
                if name not in known and name.count(".") < 2 and origin and origin.startswith(roots):
                    names.append(name)
            if names:
                with write_to(note, "w") as file:
                    file.write("\n".join(names) + "\n")
        except Exception:
            pass

    atexit.register(teach)


def _install():
    sink = _sink()
    if sink is None:
        return
    known = ()
    sys.excepthook = _excepthook(sink)
    if "logging" in sys.modules:
        _prepare_logging(sys.modules["logging"], sink)
    else:
        sys.meta_path.insert(0, _LoggingFinder(sink))
    if "TRAINYARD_WARM_MODULES" in os.environ:
        import trainyard_warm

        known = trainyard_warm.serve(sink.again)
    _teach(known)


if sys.version_info >= (3, 7):  # an older one can only be a tool of the program's own
    _install()
    if "TRAINYARD_TPU_AS_CPU" in os.environ:
        import trainyard_tpu_as_cpu

        trainyard_tpu_as_cpu.install()
    # Last: the module `trainyard` there is for jobs that have not installed the client.
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "last"))
    _next_sitecustomize()
