"""Runs a notebook's cells one after the other, and writes what they show into the notebook, as Jupyter does.

The script of the cells is beside it: its lines "# cell N" tell where each begins, so that spawned processes and
inspect.getsource() see the lines of a file. It is not what Python is started with: the cells before one that is no Python run.
"""

import __future__

import ast
import base64
import bisect
import builtins
import functools
import importlib.util
import io
import json
import os
import re
import sys
import threading
import time
import traceback
import types

SCRIPT = "trainyard_cells.py"
TEXT_MAX = 1000000  # characters of one cell's output
SAVE_S = 10  # how often the output of a cell that runs for long is saved


class Stream:
    """Passes on what is written, and keeps a copy for the notebook."""

    def __init__(self, name, file, page):
        self._name, self._file, self._page = name, file, page

    def write(self, text):
        count = self._file.write(text)
        self._page.stream(self._name, text)
        return count

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def __getattr__(self, name):
        return getattr(self._file, name)


class Page:
    """The notebook with the outputs so far."""

    def __init__(self, path):
        self._path = path
        with open(path, encoding="utf-8") as file:
            self._notebook = json.load(file)
        self.cells = [cell for cell in self._notebook["cells"] if cell.get("cell_type") == "code"]
        for cell in self.cells:
            cell["outputs"], cell["execution_count"] = [], None
        self._outputs, self._length, self._saved = [], 0, time.monotonic()
        self._column = None  # of the last line of the last output, where that is not its end
        self._process, self._lock = os.getpid(), threading.RLock()

    def begin(self, number):
        if number <= len(self.cells):
            cell = self.cells[number - 1]
            cell["execution_count"] = number
            self._outputs = cell["outputs"]
        self._length, self._column = 0, None

    def stream(self, name, text):
        """Forked processes keep nothing, and may have the lock as another thread held it."""
        if os.getpid() != self._process:
            return
        with self._lock:
            if self._length + len(text) > TEXT_MAX:
                return
            last = self._outputs[-1] if self._outputs else {}
            if last.get("output_type") != "stream" or last["name"] != name:
                last, self._column = {"output_type": "stream", "name": name, "text": []}, None
                self._outputs.append(last)
            if self._column is None and "\r" not in text:
                last["text"].append(text)
                self._length += len(text)
            else:
                self._overwrite(last["text"], text)
            if time.monotonic() > self._saved + SAVE_S:
                self.save()

    def _overwrite(self, kept, text):
        """Appends as a terminal does: behind a carriage return the line is written over."""
        line = ""
        while kept and not line:
            line = kept.pop()
        while kept and "\n" not in line:
            line = kept.pop() + line
        self._length -= len(line)
        before, newline, line = line.rpartition("\n")
        done, column = [before + newline], len(line) if self._column is None else self._column
        for part in re.split("([\r\n])", text):
            if part == "\n":
                done.append(line + part)
                line, column = "", 0
            elif part == "\r":
                column = 0
            else:
                line, column = line[:column] + part + line[column + len(part):], column + len(part)
        done = [part for part in (*done, line) if part]
        kept.extend(done)
        self._length += sum(map(len, done))
        self._column = column if column < len(line) else None

    def add(self, output):
        with self._lock:
            self._outputs.append(output)

    def save(self):
        """A reader, or the end of the job, sees the notebook before or after, never a part of it. Forked processes save nothing."""
        if os.getpid() == self._process:
            with self._lock:
                self._save()

    def _save(self):
        self._saved = time.monotonic()
        part = self._path + ".part"
        try:
            with open(part, "w", encoding="utf-8") as file:
                json.dump(self._notebook, file, indent=1, ensure_ascii=False)
                file.write("\n")
            os.replace(part, self._path)
        except (OSError, ValueError) as error:  # a full disk, say
            sys.__stderr__.write("The notebook's outputs cannot be saved: %s\n" % error)


def picture_of(figure):
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight")
    return buffer.getvalue()


def data_of(value):
    """What a notebook keeps of a value, by media type."""
    data = {"text/plain": repr(value)}
    picture = None
    figures = sys.modules.get("matplotlib.figure")
    try:
        if figures is not None and isinstance(value, figures.Figure):
            picture = picture_of(value)
        elif not isinstance(value, type) and hasattr(value, "_repr_png_"):
            picture = value._repr_png_()
        if not isinstance(value, type) and hasattr(value, "_repr_html_"):
            html = value._repr_html_()
            if isinstance(html, str):
                data["text/html"] = html
    except Exception as error:  # the value's own code: its text is shown in any case
        print("A value cannot be shown: %s" % error, file=sys.__stderr__)
    if isinstance(picture, bytes):
        data["image/png"] = base64.b64encode(picture).decode()
    return data


class PyplotWatch:
    """Tells of pyplot as soon as it is imported."""

    def __init__(self, found):
        self._found = found

    def find_spec(self, name, path=None, target=None):
        if name != "matplotlib.pyplot":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                self._found(module)

            spec.loader.exec_module = exec_module
        return spec


class Cells:
    def __init__(self, page, notebook, script, names):
        self._page, self._notebook, self._script, self._names = page, notebook, script, names
        with open(script, encoding="utf-8") as file:
            self._lines = file.read().split("\n")
        self._begins = []
        for at, line in enumerate(self._lines):
            if line == "# cell %d" % (len(self._begins) + 1):
                self._begins.append(at)
        head = "\n".join(self._lines[: self._begins[0]])
        self._flags = self._future(head)
        exec(compile(head, script, "exec", self._flags, True), names)

    def _future(self, source):
        """The compiler's flags of the script's imports from __future__."""
        flags = 0
        for statement in ast.parse(source).body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                for name in statement.names:
                    flags |= getattr(__future__, name.name).compiler_flag
        return flags

    def _compile(self, number):
        """The cell's statements, and its last expression, if that is its last line."""
        begin, end = [*self._begins, len(self._lines)][number - 1 : number + 1]
        source = "\n".join(self._lines[begin:end])
        tree = compile("\n" * begin + source, self._script, "exec", ast.PyCF_ONLY_AST | self._flags, True)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
            last = compile(ast.Expression(tree.body.pop().value), self._script, "eval", self._flags, True)
        return compile(tree, self._script, "exec", self._flags, True), last

    def display(self, *values):
        for value in values:
            data = data_of(value)
            self._page.add({"output_type": "display_data", "metadata": {}, "data": data})
            print(data["text/plain"], file=sys.__stdout__, flush=True)

    def told(self, text):
        """The text with the script's lines as those of the notebook's cells."""
        def place(match):
            line = int(match.group(2))
            number = bisect.bisect_left(self._begins, line)
            if number == 0:
                return match.group()
            file = 'File "%s", ' % self._notebook if match.group(1) else ""
            return "%scell %d, line %d" % (file, number, line - self._begins[number - 1] - 1)
        return re.sub('(File ")?(?:%s", |%s, )line ([0-9]+)' % (re.escape(self._script), re.escape(SCRIPT)), place, text)

    def watch_tracebacks(self):
        """Those that the program prints, and those of the runtime's hook."""
        plain = traceback.TracebackException.format
        traceback.TracebackException.format = lambda *of, **how: map(self.told, plain(*of, **how))

    def watch_pyplot(self, pyplot):
        """Its show() is a plain function in any case: pyplot sets attributes of it."""
        @functools.wraps(pyplot.show)
        def show(*_, **__):
            self.show_figures()
        pyplot.show = show

    def show_figures(self):
        """The open figures of pyplot, which are closed by it."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None:
            return
        for number in pyplot.get_fignums():
            self.display(pyplot.figure(number))
        pyplot.close("all")

    def run(self):
        for number in range(1, len(self._begins) + 1):
            self._page.begin(number)
            statements, last = self._compile(number)
            exec(statements, self._names)
            value = eval(last, self._names) if last is not None else None
            if value is not None:
                data = data_of(value)
                self._page.add({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data})
                print(data["text/plain"], file=sys.__stdout__, flush=True)
            self.show_figures()
            self._page.save()


def run(notebook):
    """Runs the cells as the program's main module, and ends the program."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    script = os.path.abspath(SCRIPT)
    main = types.ModuleType("__main__")
    main.__file__, main.__builtins__ = script, builtins
    sys.modules["__main__"] = main
    page = Page(os.path.abspath(notebook))
    cells = Cells(page, notebook, script, main.__dict__)
    main.display = cells.display
    cells.watch_tracebacks()
    sys.meta_path.insert(0, PyplotWatch(cells.watch_pyplot))
    sys.stdout, sys.stderr = Stream("stdout", sys.stdout, page), Stream("stderr", sys.stderr, page)
    try:
        cells.run()
    except SystemExit:
        page.save()
        raise
    except BaseException as error:
        below = error.__traceback__
        while below is not None and below.tb_frame.f_code.co_filename == run.__code__.co_filename:
            below = below.tb_next
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        text = "".join(traceback.format_exception(type(error), error, below))
        page.add({"output_type": "error", "ename": type(error).__name__, "evalue": cells.told(str(error)),
                  "traceback": text.split("\n")})
        page.save()
        if sys.excepthook is sys.__excepthook__:
            sys.stderr.write(text)
        else:
            sys.excepthook(type(error), error.with_traceback(below), below)
        sys.exit(1)
    sys.exit(0)
