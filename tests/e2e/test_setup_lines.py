"""The lines with which the original's pages begin: gcloud's settings, services, buckets, tokens; after `env` and under `with`."""

import json
import subprocess

import pytest

from test_clients_with import own_environment
from trainyard_server import PROGRAM

LED = {"serviceusage": "/v1/projects/p/services/ml.googleapis.com", "iam": "/v1/projects/p/serviceAccounts",
       "iamcredentials": "/v1/projects/-/serviceAccounts/a@b.iam.gserviceaccount.com:generateAccessToken",
       "cloudresourcemanager": "/v1/projects/p", "compute": "/compute/v1/projects/p/regions/us-west1"}


@pytest.fixture
def shells(server, tmp_path):
    """Two ways to run a line of a shell: after eval of `trainyard env`, and under `trainyard with`. Both use one configuration of
    gcloud."""
    environment = own_environment(tmp_path, CLOUDSDK_CORE_PROJECT="p", CLOUDSDK_CORE_DISABLE_PROMPTS="1")

    def run(words):
        return subprocess.run([*words, PROGRAM, str(server.data)], capture_output=True, text=True, timeout=120, env=environment)

    def after_env(line):
        return run(["bash", "-c", f'eval "$("$0" env --data "$1" 2>/dev/null)"; {line}'])

    def under_with(line):
        return run([PROGRAM, "with", "--data", str(server.data), "--", "bash", "-c", line])

    return after_env, under_with


def test_gcloud_takes_the_regions_of_training(shells, gcloud):
    for shell in shells:
        done = shell("gcloud config set compute/region us-west1 && gcloud config set compute/zone us-west1-b && "
                     "gcloud config get-value compute/region")
        assert done.returncode == 0 and done.stdout == "us-west1\n", done.stderr
        assert done.stderr == "Updated property [compute/region].\nUpdated property [compute/zone].\n"
    mistyped = shells[0]("gcloud config set compute/region us-wst1")
    assert "us-wst1 is not a valid region" in mistyped.stderr, mistyped.stderr


def test_gcloud_needs_no_location_and_one_configuration_serves_both(server, shells, gcloud):
    """A token of each in turn: gcloud keeps the account, with the universe in which it found it."""
    for number, shell in enumerate((*shells, *shells)):
        done = shell(f"gcloud auth print-access-token && gcloud storage buckets create gs://setup-{number}")
        assert done.returncode == 0 and done.stdout.startswith("ya29.trainyard."), done.stderr
    assert sorted(path.name for path in (server.data / "buckets").iterdir()) == [f"setup-{number}" for number in range(4)]


def test_curl_reaches_what_the_pages_enable(server, shells):
    """Under `with` each name leads here: with a network, the token would otherwise go to Google."""
    _, under_with = shells
    lines = [f"curl -sS -o /dev/null -w '%{{http_code}} %{{remote_ip}}\\n' -H 'Authorization: Bearer x' https://{name}.googleapis.com{path}"
             for name, path in LED.items()]
    note = json.loads((server.data / "run/server.json").read_text())
    done = under_with("\n".join(lines))
    answers = [line.split() for line in done.stdout.splitlines()]
    assert [address for _, address in answers] == [note["workstation"]["address"]] * len(LED), done.stdout + done.stderr
    statuses = dict(zip(LED, (status for status, _ in answers), strict=True))
    assert statuses.pop("iamcredentials") in ("404", "405"), done.stdout  # it takes POST only
    assert set(statuses.values()) == {"200"}, done.stdout
    enabled = under_with("curl -sS -X POST https://serviceusage.googleapis.com/v1/projects/p/services/ml.googleapis.com:enable")
    assert json.loads(enabled.stdout)["done"] is True, enabled.stdout + enabled.stderr
