"""The first minutes on a machine of one's own: `trainyard env` and back, a used port, the server's address in a browser."""

import os
import re
import socket
import subprocess
import sys

import pytest
import requests

from test_clients import PYTHON_EXAMPLE, REASON, without_state
from test_clients_with import log_in, own_environment
from trainyard_server import PROGRAM


def shell(server, script, environment):
    """Runs it after eval of what `trainyard env` prints."""
    whole = 'eval "$("$0" env --data "$1")" || exit 9\n' + script
    return subprocess.run(["bash", "-c", whole, PROGRAM, str(server.data), sys.executable], capture_output=True, text=True, timeout=120,
                          env=environment)


@pytest.mark.parametrize("before", [{}, {"BOTO_CONFIG": "/home/u/it's mine", "GOOGLE_APPLICATION_CREDENTIALS": "/no/key.json",
                                        "GOOGLE_CLOUD_PROJECT": "real", "https_proxy": "http://proxy:1", "NO_PROXY": "corp"}],
                         ids=["nothing-set", "much-set"])
def test_unset_brings_back_what_was_there(server, tmp_path, before):
    environment = own_environment(tmp_path, **before)
    list_all = "env -0 | sort -z | grep -zv -e ^_= -e ^SHLVL= -e ^PWD= -e ^OLDPWD= | tr '\\0' '\\n'"
    plain = subprocess.run(["bash", "-c", list_all], capture_output=True, text=True, env=environment, check=True).stdout
    done = shell(server, f'{list_all}; echo ----; eval "$("$0" env --data "$1" 2>/dev/null)"; eval "$("$0" env --unset)"; {list_all}',
                 environment)
    there, _, after = done.stdout.partition("----\n")
    assert done.returncode == 0 and after == plain, done.stderr
    assert f"TRAINYARD_DATA={server.data}\n" in there and f"TRAINYARD_SERVER={server.url}\n" in there
    assert "GOOGLE_APPLICATION_CREDENTIALS=" not in there.replace("TRAINYARD_REPLACED_GOOGLE_APPLICATION_CREDENTIALS=", "")
    assert ("NO_PROXY=corp,localhost,.localhost,127.0.0.1\n" in there) == ("https_proxy" in before)


def test_unset_in_a_fresh_shell_says_that_nothing_is_set(tmp_path):
    done = subprocess.run([PROGRAM, "env", "--unset"], capture_output=True, text=True, timeout=60, env=own_environment(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "No variable of this shell was set by trainyard env.\n")


def warnings(text):
    return [line for line in text.splitlines() if line.startswith("WARNING: ") and "ml.localhost may not" not in line]


def test_google_credentials_are_replaced_and_said_once(server, upload, tmp_path, with_localhost_names):
    login = log_in(tmp_path)
    environment = own_environment(tmp_path, **login)
    done = shell(server, 'echo "$GOOGLE_APPLICATION_CREDENTIALS"; eval "$("$0" env --data "$1")"', environment)
    assert done.stdout == f"{server.data}/run/client-credentials.json\n"
    assert os.stat(done.stdout.strip()).st_mode & 0o777 == 0o600
    key = login["GOOGLE_APPLICATION_CREDENTIALS"]
    assert warnings(done.stderr) == [
        f"WARNING: GOOGLE_APPLICATION_CREDENTIALS names [{key}], a key for Google that cannot be used for this server. "
        "It is replaced by the server's in this shell; trainyard env --unset restores it"]
    default = tmp_path / "gcloud/application_default_credentials.json"
    done = shell(server, "true", own_environment(tmp_path))
    assert warnings(done.stderr) == [
        f"WARNING: the credentials in [{default}] are for Google and cannot be used for this server, so "
        "GOOGLE_APPLICATION_CREDENTIALS was set to other credentials; trainyard env --unset removes it"]
    default.unlink()
    done = shell(server, 'echo "${GOOGLE_APPLICATION_CREDENTIALS-none}"', environment)
    assert done.stdout == "none\n" and "It is removed in this shell" in done.stderr


def test_discovery_build_works_beside_google_credentials(server, upload, tmp_path, with_localhost_names):
    package = upload(server, "probe")
    program = tmp_path / "example.py"
    program.write_text(PYTHON_EXAMPLE % "")
    script = f'exec "$2" {program} {package}'
    whole = with_localhost_names(["bash", "-c", 'eval "$("$0" env --data "$1")"\n' + script, PROGRAM, str(server.data), sys.executable])
    done = subprocess.run(whole, capture_output=True, text=True, timeout=120, env=own_environment(tmp_path, **log_in(tmp_path)))
    assert done.returncode == 0, done.stderr
    assert without_state(done.stdout) == ["STATE QUEUED", REASON, "LISTED ['from_python']"]


def test_env_warns_of_another_server_than_the_data_directorys(server, make_server, tmp_path):
    other = make_server()
    done = subprocess.run([PROGRAM, "env"], capture_output=True, text=True, timeout=60,
                          env=own_environment(tmp_path, TRAINYARD_SERVER=server.url, TRAINYARD_DATA=str(other.data)))
    assert done.returncode == 0 and warnings(done.stderr) == [
        f"WARNING: the server at {server.url} (from: TRAINYARD_SERVER) is not that of the data directory {other.data}, which is at "
        f"{other.url}; trainyard env --data {other.data} names that one",
        "WARNING: the server's certificate is not in this machine's data directory: discovery.build('ml', 'v1') without arguments and "
        "gsutil will not work; all other clients will"]


def serve(data, address):
    done = subprocess.run([PROGRAM, "serve", "--data", str(data), "--listen", address], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stdout == ""
    return [line for line in done.stderr.splitlines() if line.startswith("trainyard serve: ")]


def test_a_used_port_says_who_has_it(server, tmp_path):
    data, user = tmp_path / "second", "root" if os.geteuid() == 0 else subprocess.check_output(["id", "-un"], text=True).strip()
    place = server.url.removeprefix("http://")
    other = f"trainyard serve --listen 127.0.0.1:0 --data {data} (0: any free port)"
    assert serve(data, place) == [
        f"trainyard serve: {place} is in use by the Trainyard server of the data directory {server.data} (process {server.process.pid}, "
        f'user {user}). To use it: eval "$(trainyard env --data {server.data})". To run a second server: {other}']
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = serve(data, f"127.0.0.1:{port}")
    assert len(said) == 1 and said[0].startswith(f"trainyard serve: 127.0.0.1:{port} is in use by [")
    assert said[0].endswith(f"] (process {os.getpid()}, user {user}). Choose another port: {other}")


def test_a_used_data_directory_says_where_its_server_is(server):
    assert serve(server.data, "127.0.0.1:0") == [
        f"trainyard serve: another server has the data directory {server.data}: process {server.process.pid} at {server.url}. To use it: "
        f'eval "$(trainyard env --data {server.data})"; or give this one another: --data DIR']


BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "Sec-Fetch-Site": "none"}


def test_a_browser_gets_the_console_and_a_metadata_client_does_not(server):
    page = server.request("GET", "/", headers=BROWSER)
    assert page.url.endswith("/ui/") and page.status_code == 200 and page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")
    assert "<title>Trainyard</title>" in page.text and "http://" not in page.text and "https://" not in page.text
    named = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert named and all(server.request("GET", path).status_code == 200 for path in named), named
    icon = server.request("GET", "/favicon.ico", headers={"Accept": "image/*"})
    assert icon.status_code == 200 and icon.headers["Content-Type"] == "image/svg+xml"
    for headers in ({}, {"Metadata-Flavor": "Google"}, {**BROWSER, "Metadata-Flavor": "Google"}):
        answer = server.request("GET", "/", headers=headers)
        assert answer.text == "computeMetadata/\n" and answer.headers["Metadata-Flavor"] == "Google"
    # Not under another name, as for all else; and not to replicas, who have no browser.
    assert requests.get(server.url, headers={**BROWSER, "Host": "evil.example"}, timeout=60).status_code == 403
    assert requests.get(server.replica_url, headers=BROWSER, timeout=60).text == "computeMetadata/\n"
