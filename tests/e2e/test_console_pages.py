"""Every page of the console in a real browser, on a server with something of everything: it is there, accessible in both themes, fits a
telephone, and looks as its picture in docs/console (loosely: TRAINYARD_UPDATE_GOLDEN=1 takes new ones)."""

import base64
import json
import os
import pathlib
import tempfile

import pytest

import event_files
from console_world import World
from trainyard_server import ROOT, Server, end_supervisors

AXE = ROOT / "console/node_modules/axe-core/axe.min.js"
PICTURES = ROOT / "docs/console"
JOB = "/ui/p/p/jobs"
# What is waited for before a page counts as shown: a text of its own.
PAGES = {
    "jobs": (JOB, "census_4"),
    "job": (f"{JOB}/census_1", "needle in the log"),
    "job-failed": (f"{JOB}/census_3", "no such column: age"),
    "logs": (f"{JOB}/census_1/logs?line=3000", "line 00029"),
    "charts": (f"{JOB}/census_4/charts", "Memory"),
    "metrics": (f"{JOB}/census_1/metrics", "accuracy"),
    "trials": (f"{JOB}/tuned_1/trials", "units"),
    "config": (f"{JOB}/census_1/config", "pythonModule"),
    "shell": (f"{JOB}/census_4/shell/master-replica-0", "master-replica-0"),
    "new": ("/ui/p/p/new?from=census_1", "Python package"),
    "compare": ("/ui/p/p/compare?jobs=census_1,census_2", "loss"),
    "studies": ("/ui/p/p/studies", "peaks"),
    "buckets": ("/ui/buckets", "models"),
    "folder": ("/ui/buckets/data/", "table.csv"),
    "file": ("/ui/buckets/data/table.csv", "77516"),
    "machine": ("/ui/machine", "census_4"),
    "start": ("/ui/start", "trainyard run"),
}
WIDTHS = {"telephone": (400, 800), "desk": (1280, 900), "wall": (3840, 2160)}
FIT_MS = 20_000
ALIKE = 12.0  # mean difference of brightness, of 255, over a grid of the picture's cells

@pytest.fixture(scope="module")
def world(environments, packages):
    with tempfile.TemporaryDirectory(prefix="trainyard-", dir="/var/tmp") as folder:  # a page shows it
        server = Server(pathlib.Path(folder) / "data", environments=environments)
        yield World(server, lambda on, name: on.upload("packages", f"{name}.tar.gz", packages[name].read_bytes()))
        server.stop()
        end_supervisors(server.data)

@pytest.fixture(scope="module")
def axe():
    if not AXE.exists():
        pytest.skip("no axe-core in console/node_modules")
    return AXE.read_text()

def shown(page, text):
    page.get_by_text(text).first.wait_for()
    page.wait_for_function("() => document.querySelector('.notice.loading') === null")

def show_theme(page, theme):
    page.emulate_media(color_scheme=theme)
    page.wait_for_function("wanted => document.documentElement.dataset.theme === wanted", arg=theme)

@pytest.mark.parametrize("name", PAGES)
def test_a_page(world, open_console, axe, name):
    path, text = PAGES[name]
    page = open_console(world.server, path)
    shown(page, text)
    for theme in ("light", "dark"):
        show_theme(page, theme)
        assert violations(page, axe) == []
        for kind, (width, height) in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_function("width => innerWidth === width", arg=width)
            # Charts follow the window a little later. In vain: the page is wider than the window.
            page.wait_for_function("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth", timeout=FIT_MS)
            compare(page, PICTURES / f"{name}-{theme}-{kind}.webp", page.screenshot(scale="css"))
        page.set_viewport_size({"width": 1280, "height": 900})

def violations(page, axe):
    page.evaluate(axe)
    found = page.evaluate("() => axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']})")["violations"]
    return [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]

PNG = ("iVBORw0KGgoAAAANSUhEUgAAABgAAAAQCAIAAACDRijCAAAARElEQVR42u3MRQHAQBDAwBNWZkYLERtZFdHvjoBJGeZYYIkV1thg"
       "ix32OOCIE8644Iob7njgiRfe+OCLKaKIIoroX/QB8IstX/q/qlYAAAAASUVORK5CYII=")
NOTEBOOK = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
    {"cell_type": "markdown", "source": ["# A look\n"]},
    {"cell_type": "code", "execution_count": 1, "source": ["print('seen')\n", "plot"], "outputs": [
        {"output_type": "stream", "name": "stdout", "text": ["seen\n"]},
        {"output_type": "display_data", "data": {"image/png": PNG, "text/plain": ["<Figure>"]}},
        {"output_type": "display_data", "data": {"text/html": ["<script>document.title = 'owned'</script>"], "text/plain": ["a table"]}}]}]}

def test_a_notebook_is_cells_and_a_histogram_is_bars(world, open_console, axe):
    world.server.upload("data", "deep/look.ipynb", json.dumps(NOTEBOOK).encode())
    values = [(3, event_files.histogram("weights", [0.0, 1.0, 4.0], [5.0, 6.0, 3.0]))]
    world.server.upload("models", "census_2/train/events.out.tfevents.1700000009.host", event_files.event_file(values))
    page = open_console(world.server, "/ui/buckets/data/deep/look.ipynb")
    page.get_by_text("a table").wait_for()
    page.wait_for_function("() => document.querySelector('.notebook img')?.naturalWidth === 24")
    assert page.get_by_label("Output 1 of cell 2").inner_text().strip() == "seen"
    assert "owned" not in page.title() and violations(page, axe) == []
    page.set_viewport_size({"width": 400, "height": 800})
    page.wait_for_function("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth", timeout=FIT_MS)
    page = open_console(world.server, f"{JOB}/census_2/metrics")
    page.get_by_label("weights, step 3: 14 values from -1 to 4").wait_for()
    assert violations(page, axe) == []

# The browser shrinks and compares: nothing else here can read pictures.
SHRINK = """async ([picture, most]) => {
    const bitmap = await createImageBitmap(await (await fetch(picture)).blob());
    const scale = Math.min(1, most / bitmap.width);
    const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale), Math.round(bitmap.height * scale));
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    const bytes = new Uint8Array(await (await canvas.convertToBlob({type: 'image/webp', quality: 0.7})).arrayBuffer());
    return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''));
}"""
DIFFER = """async pictures => {
    const cells = await Promise.all(pictures.map(async picture => {
        const bitmap = await createImageBitmap(await (await fetch(picture)).blob(), {resizeWidth: 24, resizeHeight: 18, resizeQuality: 'high'});
        const context = new OffscreenCanvas(24, 18).getContext('2d');
        context.drawImage(bitmap, 0, 0);
        return context.getImageData(0, 0, 24, 18).data;
    }));
    let sum = 0;
    for (let at = 0; at < cells[0].length; at += 1) sum += Math.abs(cells[0][at] - cells[1][at]);
    return sum / (24 * 18 * 3);
}"""
PICTURE_WIDTH_MAX = 1280  # of what is kept

def compare(page, path, png):
    def url(kind, content):
        return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
    with page.context.new_page() as blank:  # the console's policy fetches no data: addresses
        if os.environ.get("TRAINYARD_UPDATE_GOLDEN"):
            pathlib.Path(path).parent.mkdir(exist_ok=True)
            path.write_bytes(base64.b64decode(blank.evaluate(SHRINK, [url("png", png), PICTURE_WIDTH_MAX])))
            return
        difference = blank.evaluate(DIFFER, [url("webp", path.read_bytes()), url("png", png)])
        assert difference < ALIKE, f"{path.name}: {difference:.1f} (of 255); if it should look so, take it anew: TRAINYARD_UPDATE_GOLDEN=1"

