"""Sends Python's logging to the replica's supervisor, one JSON object per line, as the original's images did.

The supervisor names an open pipe in TRAINYARD_LOG_FD. Without it, or when it is not what this process inherited, nothing
happens. `logging` itself is only prepared when the program imports it: interpreter start must stay cheap.
Works with Python 3.7 and later; touches nothing but the root logger, logging.basicConfig and sys.excepthook.
"""

import os
import sys


class _Sink:
    """The pipe, for as long as the descriptor is still the one that this process was started with."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.identity = self._look()

    def _look(self):
        found = os.fstat(self.descriptor)
        if found.st_mode & 0o170000 not in (0o010000, 0o140000):  # a FIFO or a socket
            raise OSError("not a pipe")
        return found.st_dev, found.st_ino

    def write(self, fields):
        """False when the pipe is gone: closed by a daemon, or its number reused for a file of the program's own."""
        import json

        try:
            if self._look() != self.identity:
                return False
            # "replace": half of a surrogate pair has no form in UTF-8, nor a valid one in JSON.
            line = (json.dumps(fields, ensure_ascii=False, default=str) + "\n").encode("utf-8", "replace")
            while line:
                line = line[os.write(self.descriptor, line):]
            return True
        except OSError:
            return False


def _sink():
    try:
        return _Sink(int(os.environ["TRAINYARD_LOG_FD"]))
    except (KeyError, ValueError, OverflowError, OSError):
        return None


def _severity(levelno):
    for bound, name in ((50, "CRITICAL"), (40, "ERROR"), (30, "WARNING"), (20, "INFO")):
        if levelno >= bound:
            return name
    return "DEBUG"


def _fields(severity, message, created, levelname, pathname, lineno, thread):
    seconds = int(created)
    return {"severity": severity, "message": message, "created": created, "levelname": levelname,
            "pathname": pathname, "lineno": lineno, "thread": thread,
            "timestampSeconds": seconds, "timestampNanos": int((created - seconds) * 1e9)}


def _prepare_logging(logging, sink):
    class SupervisorHandler(logging.Handler):
        def emit(self, record):
            try:
                message = self.format(record)
                if not sink.write(_fields(_severity(record.levelno), message, record.created, record.levelname,
                                          record.pathname, record.lineno, record.thread)):
                    if sys.stderr is not None:
                        sys.stderr.write("%s:%s:%s\n" % (record.levelname, record.name, message))
            except RecursionError:
                raise
            except Exception:
                self.handleError(record)

    level = {"DEBUG": 10, "WARNING": 30, "ERROR": 40, "CRITICAL": 50}.get(os.environ.get("CLOUD_ML_LOG_LEVEL", ""), 20)
    handler = SupervisorHandler()
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
            written = sink.write(_fields(
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


def _install():
    sink = _sink()
    if sink is None:
        return
    sys.excepthook = _excepthook(sink)
    if "logging" in sys.modules:
        _prepare_logging(sys.modules["logging"], sink)
    else:
        sys.meta_path.insert(0, _LoggingFinder(sink))


if sys.version_info >= (3, 7):  # an older one can only be a tool of the program's own
    _install()
    _next_sitecustomize()
