"""Settings, tables and errors: without a server."""

import json
import sys

import pytest

import trainyard
from trainyard import Table, _errors, _settings
from trainyard._table import make_table


@pytest.fixture
def clean(monkeypatch, tmp_path):
    for name in ("TRAINYARD_SERVER", "TRAINYARD_DATA", "XDG_DATA_HOME", "CLOUDSDK_CORE_PROJECT", "CLOUDSDK_CONFIG",
                 "CLOUDSDK_ACTIVE_CONFIG_NAME", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return monkeypatch, tmp_path


def test_the_server_is_found_as_the_command_finds_it(clean):
    monkeypatch, home = clean
    assert _settings.find_server(None) == ("http://127.0.0.1:8470", "the default")
    note = home / ".local/share/trainyard/run/server.json"
    note.parent.mkdir(parents=True)
    note.write_text(json.dumps({"url": "http://127.0.0.1:9", "project": "noted"}))
    assert _settings.find_server(None) == ("http://127.0.0.1:9", str(note))
    assert _settings.find_project(None) == "noted"
    monkeypatch.setenv("TRAINYARD_SERVER", "http://a:1/")
    assert _settings.find_server(None) == ("http://a:1", "TRAINYARD_SERVER")
    assert _settings.find_server("http://b:2") == ("http://b:2", "the argument")
    note.write_text("{")
    assert _settings.find_project(None) == "trainyard"


def test_the_project_is_found_as_the_command_finds_it(clean):
    monkeypatch, home = clean
    assert _settings.find_project(None) == "trainyard"
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "google")
    assert _settings.find_project(None) == "google"
    folder = home / ".config/gcloud/configurations"
    folder.mkdir(parents=True)
    (folder / "config_default").write_text("[core]\nproject = of-gcloud\n")
    assert _settings.find_project(None) == "of-gcloud"
    monkeypatch.setenv("CLOUDSDK_CORE_PROJECT", "variable")
    assert _settings.find_project(None) == "variable"
    assert _settings.find_project("given") == "given"


def test_no_server(clean):
    with pytest.raises(trainyard.Unreachable, match=r"no Trainyard server answers at http://127\.0\.0\.1:1 \(from the argument\)"):
        trainyard.connect("http://127.0.0.1:1")


def test_errors_have_the_servers_words():
    body = {"error": {"code": 400, "message": "Field: region Error: missing", "details": [
        {"fieldViolations": [{"field": "region", "description": "missing"}, {"field": "args", "description": "too long"}]}]}}
    error = _errors.from_answer(json.dumps(body).encode(), 400)
    assert str(error) == "Field: region Error: missing\nargs: too long" and error.code == 400
    assert str(_errors.from_answer(b"oops", 502)) == "the server answered with status 502: oops"


def test_a_table_shows_itself_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)  # an import of it fails
    table = make_table([{"trial": "1", "metric": 0.5}, {"trial": "2", "metric": None}], ["trial", "metric"])
    assert isinstance(table, Table)
    assert repr(table) == "trial  metric\n1      0.5\n2"
    assert table._repr_html_() == ("<table><tr><th>trial</th><th>metric</th></tr><tr><td>1</td><td>0.5</td></tr>"
                                   "<tr><td>2</td><td></td></tr></table>")
