"""A second machine, as far as its network goes: a server with logins listens at an address of this machine, and clients reach it from a
network namespace that has nothing but the way there."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest

from process_output import Output
from trainyard_server import PROGRAM, Server

NETS = 1 << 15  # of four addresses each: 198.18.0.0/15 is for tests (RFC 2544)
NAME = "yard.test"
# What this machine's own settings would add to a client, or take from it.
FOREIGN = ("_CA_BUNDLE", "SSL_CERT", "_CA_CERTS", "CLOUDSDK_", "GOOGLE_", "GCE_METADATA", "STORAGE_EMULATOR_HOST", "BOTO_", "TRAINYARD_",
           "_proxy", "_PROXY", "API_ENDPOINT_OVERRIDE")


class Neighbour:
    """The namespace. It ends with its process, and that one with ours."""

    def __init__(self, folder):
        number = os.getpid() % NETS
        net = f"198.{18 + (number >> 14)}.{number >> 6 & 255}."
        first = number % 64 * 4
        self.server_address, self.address = f"{net}{first + 1}", f"{net}{first + 2}"
        self.link = f"ty{os.getpid()}"
        hosts = pathlib.Path(folder) / "hosts"
        names = " ".join([NAME, *(f"{api}.{NAME}" for api in ("ml", "storage", "logging", "iam", "cloudresourcemanager", "www"))])
        hosts.write_text(f"127.0.0.1 localhost\n{self.server_address} {names}\n")
        self.process = subprocess.Popen(
            ["unshare", "--net", "--mount", "sh", "-c", f'mount --bind "{hosts}" /etc/hosts && ip link set lo up && echo ready && read -r end'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert Output(self.process.stdout).line() == "ready\n"
        try:
            self._connect()
        except subprocess.CalledProcessError:
            self.stop()
            raise

    def _connect(self):
        near, far = self.link + "n", self.link + "f"
        ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", str(self.process.pid))
        ip("address", "add", f"{self.server_address}/30", "dev", near)
        ip("link", "set", near, "up")
        for words in (["address", "add", f"{self.address}/30", "dev", far], ["link", "set", far, "up"]):
            subprocess.run(self.command("ip", *words), check=True)

    def command(self, *words):
        return ["nsenter", "--target", str(self.process.pid), "--net", "--mount", "--", *map(str, words)]

    def stop(self):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()
        subprocess.run(["ip", "link", "delete", self.link + "n"], capture_output=True)  # it may have gone with the namespace


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Yard:
    """The server, who may use it, and the clients' side of it."""

    ACCOUNT = "trainer@p.iam.gserviceaccount.com"
    ROLES = ("roles/ml.developer", "roles/storage.admin", "roles/logging.viewer")

    def __init__(self, folder, neighbour, environments):
        self.folder, self.neighbour = folder, neighbour
        self.server = Server(folder / "data", "--auth", "on", "--project", "p", listen=f"{neighbour.server_address}:0",
                             environments=environments)
        self.url = self.server.presence["tls_url"]
        self.authority = self.url.removeprefix("https://")
        self.ca = self.server.presence["ca_file"]
        self.token = self.server.token_for("user:ann@example.com", *self.ROLES)
        self.token_file = folder / "ann.token"
        self.token_file.write_text(self.token)
        self.key = self._make_key()

    def _make_key(self):
        import base64

        def post(path, body, **more):
            response = self.server.request("POST", path, json=body, **more)
            assert response.ok, response.text
            return response.json()
        account = post("/v1/projects/p/serviceAccounts", {"accountId": "trainer"})["email"]
        member = "serviceAccount:" + account
        bindings = [{"role": role, "members": [member, "user:ann@example.com"]} for role in self.ROLES]
        post("/v1/projects/p:setIamPolicy", {"policy": {"version": 1, "bindings": bindings}})
        made = post(f"/v1/projects/p/serviceAccounts/{account}/keys", {})
        key = self.folder / "key.json"
        key.write_bytes(base64.b64decode(made["privateKeyData"]))
        return key

    def key_of_universe(self, universe):
        """The key file for clients that ask no token_uri, but sign their own tokens for a universe that is not Google's."""
        key = json.loads(self.key.read_text())
        path = self.folder / "universe-key.json"
        path.write_text(json.dumps({**key, "universe_domain": universe}))
        return path

    def account_file(self):
        """An external account: how a token becomes "application default credentials"."""
        path = self.folder / "account.json"
        path.write_text(json.dumps({
            "type": "external_account", "audience": "//iam.googleapis.com/trainyard",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": self.url + "/v1/token",
            "token_info_url": self.url + "/v1/introspect", "credential_source": {"file": str(self.token_file)}}))
        return path

    def run(self, *words, text=True, timeout=300, **variables):
        """A command on the other machine, with nothing set but these."""
        kept = {name: value for name, value in os.environ.items() if not any(part in name for part in FOREIGN)}
        environment = {**kept, "HOME": str(self.folder), **{name: str(value) for name, value in variables.items()}}
        return subprocess.run(self.neighbour.command(*words), capture_output=True, text=text, timeout=timeout, env=environment)

    def gcloud_variables(self, config="gcloud"):
        """What a user of gcloud sets for this server, login aside."""
        apis = {"ML": "/", "STORAGE": "/storage/v1/", "LOGGING": "/", "IAM": "/", "IAMCREDENTIALS": "/", "CLOUDRESOURCEMANAGER": "/",
                "SERVICEUSAGE": "/"}
        return {**{f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{api}": self.url + path for api, path in apis.items()},
                "CLOUDSDK_CONFIG": self.folder / config, "CLOUDSDK_CORE_PROJECT": "p", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE": self.ca,
                "CLOUDSDK_CORE_DISABLE_PROMPTS": "1", "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "1",
                "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "1", "CLOUDSDK_ML_ENGINE_POLLING_INTERVAL": "1"}

    def python_variables(self, credentials):
        return {"GOOGLE_APPLICATION_CREDENTIALS": credentials, "HTTPLIB2_CA_CERTS": self.ca, "REQUESTS_CA_BUNDLE": self.ca,
                "API_ENDPOINT_OVERRIDE": self.url, "GOOGLE_CLOUD_PROJECT": "p", "NO_GCE_CHECK": "true", "SERVER": self.url}

    def trainyard(self, *words, **variables):
        return self.run(PROGRAM, *words, **variables)


@pytest.fixture(scope="module")
def yard(tmp_path_factory, environments):
    """One for all tests of a module: what they make has names of its own."""
    from trainyard_server import end_supervisors
    if os.geteuid() != 0 or not shutil.which("nsenter"):
        pytest.skip("a network namespace with an address of its own needs root, unshare, nsenter and ip")
    folder = tmp_path_factory.mktemp("yard")
    neighbour = Neighbour(folder)
    made = None
    try:
        made = Yard(folder, neighbour, environments)
        yield made
    finally:
        if made is not None:
            made.server.stop()
            end_supervisors(made.server.data)
        neighbour.stop()
