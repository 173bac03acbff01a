"""The configuration file: a server that has its settings from it, flags that replace them, and `trainyard config`."""

import json
import os
import pathlib
import re
import shlex
import subprocess

import pytest
import requests

from process_output import Output
from trainyard_server import PROGRAM, ROOT

EVERY_MISTAKE = """\
data: data
listn: 127.0.0.1:0
network: isolate
stop-grace: 9999
stop-grace: 5
bucket-dir:
  - models
verbose: 1
"""


def config(*words, **options):
    return subprocess.run([PROGRAM, "config", *map(str, words)], capture_output=True, text=True, timeout=60, **options)


def shown(text):
    """Each key with its value's text and its source."""
    return {name: (value, source) for name, value, source in re.findall(r"^([a-z-]+):(.*)  # (.*)$", text, re.MULTILINE)}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(f"data: {tmp_path}/data\nlisten: 127.0.0.1:0\ngoogle-front: off\ncreate-buckets: false\n"
                    f"bucket-dir:\n  models: {tmp_path}/models\nproject: by-file\n")
    (tmp_path / "models").mkdir()
    return path


@pytest.fixture
def serve():
    """Starts `trainyard serve` with these flags alone; its process and URL."""
    started = []

    def start(*flags):
        process = subprocess.Popen([PROGRAM, "serve", *map(str, flags)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        line = Output(process.stdout).line()
        assert line.startswith("listening on http://"), process.communicate()
        return process, line.split()[-1]

    yield start
    for process in started:
        process.terminate()
        process.communicate(timeout=60)


def project_of(data):
    """What the metadata server of the server with this data directory tells clients."""
    url = json.loads((pathlib.Path(data) / "run/server.json").read_text())["url"]
    answer = requests.get(url + "/computeMetadata/v1/project/project-id", headers={"Metadata-Flavor": "Google"}, timeout=30)
    return answer.text


def test_a_server_has_its_settings_from_the_file(serve, file, tmp_path):
    _, url = serve("--config", file)
    presence = json.loads((tmp_path / "data/run/server.json").read_text())
    assert presence["url"] == url and project_of(tmp_path / "data") == "by-file"
    upload = requests.post(url + "/upload/storage/v1/b/models/o", params={"uploadType": "media", "name": "x"}, data=b"1", timeout=30)
    assert upload.ok and (tmp_path / "models/x").read_bytes() == b"1"
    refused = requests.post(url + "/upload/storage/v1/b/other/o", params={"uploadType": "media", "name": "x"}, data=b"1", timeout=30)
    assert refused.status_code == 404, "create-buckets: false"


def test_flags_replace_keys_of_the_file(serve, file, tmp_path):
    serve("--config", file, "--data", tmp_path / "other", "--project", "by-flag")
    assert project_of(tmp_path / "other") == "by-flag" and not (tmp_path / "data").exists()


def test_all_mistakes_are_named_with_their_lines(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(EVERY_MISTAKE)
    wanted = [f"{path}:1: data: 'data' must be an absolute path",
              f"{path}:2: listn: there is no such key. Did you mean 'listen'?",
              f"{path}:3: network: Invalid choice: 'isolate'. Did you mean 'isolated'? Valid choices are [host, isolated].",
              f"{path}:4: stop-grace: Value 9999 not in range 0 to 3600",
              f"{path}:5: stop-grace: is given twice: here and in line 4",
              f"{path}:7: bucket-dir: 'models' is not NAME=PATH with an absolute path",
              f"{path}:8: verbose: must be true or false, not '1'"]
    for command, status in (["config.check", path], 1), (["config.show", path], 1), (["serve", "--config", path], 2):
        program = command[0].split(".")
        done = subprocess.run([PROGRAM, *program, *command[1:]], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (status, "")
        assert done.stderr.splitlines() == [*wanted, f"ERROR: (trainyard.{command[0]}) {path} has 7 mistakes"]


def test_check_says_one_line_and_who_else_may_write(file):
    file.chmod(0o644)
    done = config("check", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{file}: 6 settings, no mistakes\n", "")
    file.chmod(0o646)
    done = config("check", file)
    assert done.returncode == 0 and f"WARNING: {file}: every account may change it (mode 0646)" in done.stderr
    file.unlink()
    done = config("check", file)
    assert done.returncode == 1 and str(file) in done.stderr and "No such file" in done.stderr
    assert config("check", file, "more").returncode == 2


def test_shown_settings_are_a_file_that_says_the_same(serve, file, tmp_path):
    environment = {**os.environ, "TRAINYARD_DATA": "/srv/by-environment"}
    first = config("show", file, "--host-name=lab", "--host-name=lab2", "--no-create-buckets", env=environment)
    assert first.returncode == 0, first.stderr
    settings = shown(first.stdout)
    assert settings["data"] == (f" {tmp_path}/data", f"{file}:1")
    assert settings["host-name"] == ("", "flag") and "  - lab\n  - lab2\n" in first.stdout
    assert settings["create-buckets"] == (" false", "flag") and settings["google-front"] == (" off", f"{file}:3")
    assert settings["capacity"] == (" share", "default") and "# container-runtime: PATH  # not set" in first.stdout
    again = tmp_path / "again.yaml"
    again.write_text(first.stdout)
    assert config("check", again).returncode == 0
    second = config("show", again, env=environment)
    assert {name: value for name, (value, _) in shown(second.stdout).items()} == {name: value for name, (value, _) in settings.items()}
    serve("--config", again)
    assert project_of(tmp_path / "data") == "by-file"


def test_show_without_a_file_has_the_environment_and_usage_errors(tmp_path):
    environment = {**os.environ, "TRAINYARD_DATA": "/srv/by-environment"}
    done = config("show", "/dev/null", env=environment)
    assert shown(done.stdout)["data"] == (" /srv/by-environment", "environment: TRAINYARD_DATA")
    done = config("show", "/dev/null", "--networ", "host")
    assert done.returncode == 2 and "did you mean '--network'?" in done.stderr
    done = config("show", "/dev/null", "--config", "/dev/null")
    assert done.returncode == 2 and "the file is named already" in done.stderr


def test_the_packaged_file_has_no_mistake():
    packaged = ROOT / "packaging/config.yaml"
    done = config("check", packaged)
    assert done.returncode == 0, done.stderr
    active = [line for line in packaged.read_text().splitlines() if line and not line.startswith("#")]
    assert "data: /var/lib/trainyard" in active


def served(text):
    """The flags of each line "trainyard serve FLAGS" in it."""
    lines = re.findall(r"(?m)^ +(?:\$ )?trainyard serve ([^\[].*)$", text)
    return [[word for word in shlex.split(line, comments=True) if word != "&"] for line in lines]


def test_no_example_is_refused(tmp_path):
    """Of `serve`, in the pages and in its help; of the configuration file, in the pages."""
    pages = {path: path.read_text() for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))}
    lines = [(path.name, flags) for path, text in pages.items() for flags in served(text)]
    help_text = subprocess.run([PROGRAM, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    lines += [("--help", flags) for flags in served(help_text)]
    assert len(lines) > 10
    for page, flags in lines:
        flags = [str(ROOT / "packaging/config.yaml") if flag == "/etc/trainyard/config.yaml" else flag for flag in flags]
        done = config("show", *flags)
        assert done.returncode == 0, (page, flags, done.stderr)
    for name in ("operators.md", "slurm.md"):
        for block in re.findall(r"(?m)(?:^    .*\n)+", pages[ROOT / "docs" / name]):
            if re.match(r"    (data|engine|slurm-rest): ", block):
                (tmp_path / "config.yaml").write_text(re.sub(r"(?m)^    ", "", block))
                done = config("check", tmp_path / "config.yaml")
                assert done.returncode == 0, (name, block, done.stdout, done.stderr)
