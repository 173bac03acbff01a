"""What docs/access.md says under "A team's first day", typed as it stands there: a colleague's first job succeeds at the first try."""

import json
import os
import re
import shutil
import subprocess

import pytest

from trainyard_server import PROGRAM, ROOT, Server, end_supervisors

TITLE = "A team's first day"
RESTART = "systemctl restart trainyard\n"


def commands_of(page, title):
    """The section's blocks of commands."""
    text = (ROOT / page).read_text()
    assert f"## {title}\n" in text, page
    section = re.split(r"(?m)^## ", text.split(f"## {title}\n", 1)[1])[0]
    blocks = re.findall(r"(?m)(?:^    .*\n(?:\n(?=    ))?)+", section)
    return [re.sub(r"(?m)^    ", "", block) for block in blocks]


class Person:
    """Types into a shell of its own."""

    def __init__(self, home, **variables):
        home.mkdir()
        (home / "bin").mkdir()
        (home / "bin/trainyard").symlink_to(PROGRAM)
        self.home = home
        self.variables = {"HOME": str(home), "PATH": f"{home}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", **variables}

    def types(self, text):
        done = subprocess.run(["bash", "-ec", text], cwd=self.home, env=self.variables, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (text, done.stdout, done.stderr)
        return done


@pytest.fixture(scope="module")
def day(tmp_path_factory, environments):
    """The machine after the page's settings: its folder, the administrator's shell, the server, and how a name of the page is called here."""
    folder = tmp_path_factory.mktemp("day")
    config = folder / "config.yaml"
    shutil.copy(ROOT / "packaging/config.yaml", config)
    here = {"/etc/trainyard/config.yaml": str(config), "/var/lib/trainyard": str(folder / "data")}
    root = Person(folder / "root", TRAINYARD_DATA=str(folder / "data"))
    settings, rest = (replaced(part, here) for part in commands_of("docs/access.md", TITLE)[0].split(RESTART))
    root.types(settings)
    root.types(f"trainyard config check {config}")
    server = Server(folder / "data", "--config", str(config), environments=environments, listen="0.0.0.0:0")
    here["yard.example:8443"] = "localhost:" + json.loads((server.data / "run/server.json").read_text())["tls_url"].rsplit(":", 1)[1]
    root.types(rest)
    yield folder, root, here
    server.stop()
    end_supervisors(server.data)


def replaced(text, here):
    for name, other in here.items():
        text = text.replace(name, other)
    return text


def test_the_first_colleagues_first_job_succeeds(day):
    folder, root, here = day
    _, bucket, token, hers = commands_of("docs/access.md", TITLE)
    assert "vision-runs/ in project vision" in root.types(bucket).stderr
    root.types(token)
    ann = Person(folder / "ann")
    for given in ("ann.token", "yard.pem"):
        shutil.copy(root.home / given, ann.home / given)
    (ann.home / "train.py").write_text("print('hello from', 6 * 7)\n")
    install, *typed = replaced(hers, here).splitlines(keepends=True)
    assert install == "pip install trainyard-*.whl\n"  # tests/e2e/test_wheel.py
    done = ann.types("".join(typed))
    assert "Project: vision." in done.stderr and "hello from 42" in done.stdout, done
    listed = ann.types("trainyard jobs list && trainyard storage ls")
    assert "SUCCEEDED" in listed.stdout and "gs://vision-runs/" in listed.stdout, listed


def test_the_readme_says_the_same():
    """But for the package, which is installed before."""
    readme, page = commands_of("README.md", "For a team")[0], "".join(commands_of("docs/access.md", TITLE))
    assert all(line in page for line in readme.splitlines()[1:]), readme
