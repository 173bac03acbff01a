"""Runs a notebook's cells of code, one after the other: what Jupyter does, without its twenty packages."""

import ast
import contextlib
import io
import json
import linecache


def run_notebook(path):
    """What each cell printed and showed. An error of a cell is the caller's."""
    names = {"__name__": "__main__"}
    return [_run(f"<cell {number}>", "".join(cell["source"]), names)
            for number, cell in enumerate(json.loads(path.read_text())["cells"]) if cell["cell_type"] == "code"]


def _run(file, text, names):
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)  # so that inspect finds it
    tree = ast.parse(text, file)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, file, "exec"), names)
        value = eval(compile(ast.Expression(last.value), file, "eval"), names) if last else None
    if value is None:
        return printed.getvalue()
    return printed.getvalue() + (value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
