"""What runs a notebook's cells, without a server."""

import json
import pathlib
import subprocess
import sys

RUNNER = pathlib.Path(__file__).parents[2] / "src/cli/run/notebook_runner.py"

# As matplotlib's pyplot does: it chooses its backend with the first figure, and then sets an attribute of show().
PYPLOT = """
figures = []
def show():
    raise RuntimeError("there is no screen")
def plot():
    show.__signature__ = None
    figures.append(Figure())
def get_fignums():
    return list(range(len(figures)))
def figure(number):
    return figures[number]
def close(which):
    figures.clear()
class Figure:
    def __repr__(self):
        return "a figure"
"""


def outputs(folder, *cells):
    """Of a notebook that is called as a module of the library."""
    notebook = folder / "types.ipynb"
    notebook.write_text(json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]}))
    (folder / "trainyard_cells.py").write_text("\n" + "".join(f"# cell {at}\n{cell}\n" for at, cell in enumerate(cells, 1)))
    program = folder / "trainyard_notebook.py"
    program.write_text(RUNNER.read_text() + f'\n\nif __name__ == "__main__":\n    run({notebook.name!r})\n')
    (folder / "matplotlib").mkdir()
    (folder / "matplotlib/__init__.py").write_text("")
    (folder / "matplotlib/pyplot.py").write_text(PYPLOT)
    subprocess.run([sys.executable, program.name], cwd=folder, capture_output=True, timeout=60, check=False)
    return [[output.get("evalue") or "".join(output.get("text", output.get("data", {}).get("text/plain", "")))
             for output in cell["outputs"]] for cell in json.loads(notebook.read_text())["cells"]]


def test_figures_are_shown_where_they_are_made(tmp_path):
    show = "plt.plot()\nplt.show()\n"
    cells = ["import matplotlib.pyplot as plt\n" + show + show + "print(1)", show + "print(2)", "plt.plot()"]
    assert outputs(tmp_path, *cells) == [["a figure", "a figure", "1\n"], ["a figure", "2\n"], ["a figure"]]


def test_the_cells_before_one_that_is_no_python_run(tmp_path):
    _, shown, error, after = outputs(tmp_path, "import os, types\nos.chdir('/')", "print(types.ModuleType)", "x = 1\nx = = 2", "print(3)")
    assert (shown, error, after) == (["<class 'module'>\n"], ["invalid syntax (cell 3, line 2)"], [])


def test_a_carriage_return_writes_over_the_line(tmp_path):
    writes = ["a\n0%", "\r 50% of it", "\r", "100", "%\n", "b\r\n", "left\r", "L"]
    assert outputs(tmp_path, f"import sys\nfor text in {writes!r}: _ = sys.stdout.write(text)") == [["a\n100% of it\nb\nLeft"]]


def test_printed_tracebacks_tell_the_cells(tmp_path):
    (shown,), = outputs(tmp_path, "import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    print(traceback.format_exc())")
    assert 'File "types.ipynb", cell 1, line 3' in shown
