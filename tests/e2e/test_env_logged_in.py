"""`trainyard env` and `trainyard with` where who asks has to log in."""

import os
import pathlib
import shlex
import subprocess
import sys

import pytest

from neighbour import FOREIGN, yard  # fixture  # noqa: F401
from test_clients_logged_in import NODE, STORAGE, check
from test_clients_with import WITHOUT
from trainyard_server import PROGRAM, ROOT


@pytest.fixture
def server(make_server):
    return make_server("--auth", "on", "--project", "p")


@pytest.fixture
def clean(tmp_path):
    kept = {name: value for name, value in os.environ.items() if name not in WITHOUT and not any(part in name for part in FOREIGN)}
    return {**kept, "HOME": str(tmp_path), "CLOUDSDK_CONFIG": str(tmp_path / "gcloud"), "CLOUDSDK_CORE_DISABLE_PROMPTS": "1"}


@pytest.fixture
def shell(server, clean):
    """Runs lines of a shell after `eval "$(trainyard env)"`."""
    def run(lines, *words, **more):
        script = f'eval "$("{PROGRAM}" env --data "{server.data}")" || exit 9\n{lines}'
        return subprocess.run(["bash", "-c", script, "sh", *map(str, words)], capture_output=True, text=True, timeout=120, env={**clean, **more})
    return run


LIST = '''
import os
from googleapiclient import discovery
print(discovery.build("ml", "v1"%s).projects().jobs().list(parent="projects/p").execute())
'''


def test_env_logs_the_libraries_in(server, shell, with_localhost_names):
    said = check(shell('echo "$CLOUDSDK_AUTH_DISABLE_CREDENTIALS|$STORAGE_EMULATOR_HOST|$(cat $CLOUDSDK_AUTH_ACCESS_TOKEN_FILE)"; stat -c %a '
                       '"$CLOUDSDK_AUTH_ACCESS_TOKEN_FILE" "$BOTO_CONFIG" "$GOOGLE_APPLICATION_CREDENTIALS"'))
    assert said == f"||{server.token}\n600\n600\n600\n"
    own_names = shlex.join(with_localhost_names([sys.executable, "-c", LIST % ""]))
    assert check(shell(own_names)) == "{}\n"
    endpoint = LIST % ', client_options={"api_endpoint": os.environ["TRAINYARD_SERVER"]}'
    assert check(shell(f'{sys.executable} -c "$1"', endpoint)) == "{}\n"
    universe = "import os\n" + STORAGE.replace(
        'project="p"', 'project="p", client_options={"universe_domain": os.environ["GOOGLE_CLOUD_UNIVERSE_DOMAIN"]}')
    assert check(shell(f'{sys.executable} -c "$1" by-env', universe)) == "b'content' ['a/b']\n"


def test_env_logs_in_who_has_logged_in(server, shell, tmp_path):
    ann = server.token_for("user:ann@example.com", "roles/ml.viewer")
    again = 'eval "$("%s" env --data "%s")"; ' % (PROGRAM, server.data)
    who = 'curl -sS -H "Authorization: Bearer $(cat $CLOUDSDK_AUTH_ACCESS_TOKEN_FILE)" $TRAINYARD_SERVER/trainyard/v1/whoami'
    assert "user:admin@" in check(shell(who))
    assert "user:ann@example.com" in check(shell(who, TRAINYARD_TOKEN=ann))
    login = f'"{PROGRAM}" auth login --server {server.url} --token-file "$1" && {again}{who}'
    (tmp_path / "ann").write_text(ann)
    assert "user:ann@example.com" in check(shell(login, tmp_path / "ann")), "what env had set does not stand in its own way"


def test_unset_takes_back_exactly_what_was_set(shell, clean):
    own = {"GOOGLE_APPLICATION_CREDENTIALS": "/my key's", "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": clean["HOME"] + "/own", "HTTPLIB2_CA_CERTS": "/own.pem"}
    pathlib.Path(own["CLOUDSDK_AUTH_ACCESS_TOKEN_FILE"]).write_text("ty_own")
    before = subprocess.run(["bash", "-c", "env -0"], capture_output=True, text=True, env={**clean, **own}).stdout
    after = check(shell(f'eval "$("{PROGRAM}" env --unset)"\nenv -0', **own))

    def variables(text):
        return {item.split("=")[0]: item for item in text.split("\0") if item and item.split("=")[0] not in ("_", "SHLVL", "PWD")}
    assert variables(after) == variables(before)


@pytest.fixture
def run_with(server, clean):
    def run(*command, **more):
        return subprocess.run([PROGRAM, "with", "--data", str(server.data), "--", *map(str, command)], capture_output=True, text=True, timeout=120,
                              env={**clean, **more})
    return run


@pytest.mark.parametrize("who", ["ann", pytest.param("administrator", marks=pytest.mark.long)])
def test_with_logs_every_client_in(server, run_with, node, who):
    token = {"TRAINYARD_TOKEN": server.token_for("user:ann@example.com", "roles/ml.developer", "roles/storage.admin")} if who == "ann" else {}
    assert check(run_with(sys.executable, "-c", LIST % "", **token)) == "{}\n"
    assert check(run_with(sys.executable, "-c", STORAGE, "with-" + who, **token)) == "b'content' ['a/b']\n"
    there = {"SERVER": "https://storage.googleapis.com", "NODE_PATH": str(ROOT / "build/node/node_modules")}
    program = NODE.replace("google.ml({version: 'v1', rootUrl: process.env.SERVER + '/', auth})", "google.ml({version: 'v1', auth})")
    assert check(run_with(node, "-e", program, "node-with-" + who, **there, **token)) == "READ content {}\n"
    if who == "ann":  # all of them are ann: none is the administrator by the metadata server
        denied = run_with(sys.executable, "-c", LIST.replace('"projects/p"', '"projects/other"') % "", **token)
        assert denied.returncode and "403" in denied.stderr


def test_gcloud_after_env_and_with(server, shell, run_with, gcloud):
    lines = (f"set -e\n{gcloud} auth print-access-token | cut -c1-3\n{gcloud} projects get-iam-policy p >/dev/null\n"
             f"{gcloud} iam service-accounts create trainer\n{gcloud} ai-platform jobs list\n{gcloud} storage ls\n")
    assert check(shell(lines.replace("storage ls", "storage buckets create gs://made --location us-central1"))) == "ty_\n"
    assert check(run_with(gcloud, "storage", "ls")) == "gs://made/\n"
    assert "trainer@p.iam" in check(run_with(gcloud, "iam", "service-accounts", "list"))
    check(run_with(gcloud, "ai-platform", "jobs", "list"))


@pytest.mark.long
def test_gsutil_after_env_and_with(server, shell, run_with, runtime, environments):
    program = next(environments.glob(f"runtimes/{runtime('2.15')}-*/bin/gsutil"))
    check(shell(f"{program} mb gs://by-gsutil"))
    assert check(run_with(program, "ls")) == "gs://by-gsutil/\n"


def test_env_on_another_machine(yard):  # noqa: F811
    """After trainyard auth login: its address, its authority and the token."""
    config = {"XDG_CONFIG_HOME": yard.folder / "elsewhere"}
    no_login = yard.trainyard("env", "--server", yard.url, **config)
    assert no_login.returncode == 1 and "certificate is not trusted" in no_login.stderr
    check(yard.trainyard("auth", "login", "--server", yard.url, "--ca-file", yard.ca, "--token-file", yard.token_file, **config))
    lines = (f'eval "$("{PROGRAM}" env --project p)" || exit 9\n{sys.executable} -c "$1" by-remote-env\n'
             'curl -sSf --cacert "$REQUESTS_CA_BUNDLE" -H "Authorization: Bearer $(cat "$CLOUDSDK_AUTH_ACCESS_TOKEN_FILE")" '
             '"$CLOUDSDK_API_ENDPOINT_OVERRIDES_ML"v1/projects/p/jobs')
    done = yard.run("bash", "-c", lines, "sh", STORAGE, **config)
    assert check(done) == "b'content' ['a/b']\n{}\n" and "api_endpoint" in done.stderr
