"""Whoever may create jobs cannot make the server call its own machine: not by an image's name, a registry's redirect or its login's address."""

import hashlib
import http.server
import json
import shutil
import socket
import threading
from typing import Any

import pytest

from container_engines import api
from trainyard_server import Server, end_supervisors

pytestmark = pytest.mark.skipif(not shutil.which("skopeo"), reason="images are asked for with skopeo")


class Handler(http.server.BaseHTTPRequestHandler):
    server: Any

    def do_GET(self):
        self.server.say(self)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


class Listener(http.server.ThreadingHTTPServer):
    """On this machine: remembers what it was asked; `answer` makes the rest of an answer to a path."""

    def __init__(self, host="127.0.0.1", answer=None):
        self.asked = []
        super().__init__((host, 0), Handler)
        self.answer = answer
        self.port = self.server_address[1]
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    def get_request(self):
        accepted = super().get_request()
        self.asked.append("a connection")
        return accepted

    def say(self, handler):
        self.asked.append(handler.path)
        status, headers, body = (*self.answer(handler.path), b"")[:3] if self.answer else (200, {}, b"")
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body)

    def stop(self):
        self.shutdown()
        self.thread.join()
        self.server_close()


@pytest.fixture
def inner():
    """What listens on this machine and is nobody's business."""
    listener = Listener()
    yield listener
    listener.stop()


def own_address():
    """One of this machine's that is not loopback, if there is one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
        try:
            unused.connect(("192.0.2.1", 9))  # sends nothing
            return unused.getsockname()[0]
        except OSError:
            return None


@pytest.fixture(scope="module")
def registries():
    """Two that the operator named, which lead elsewhere: one by a redirect, one by the address of its login."""
    leads = {}
    made = {"redirect": Listener(answer=lambda path: (302, {"Location": leads["to"] + path}) if path != "/v2/" else (200, {})),
            "login": Listener(answer=lambda path: (401, {"WWW-Authenticate": f'Bearer realm="{leads["to"]}/token",service="s"'}))}
    yield made, leads
    for registry in made.values():
        registry.stop()


@pytest.fixture(scope="module")
def server(tmp_path_factory, registries):
    named = [word for registry in registries[0].values() for word in ("--insecure-registry", f"127.0.0.1:{registry.port}")]
    server: Any = Server(tmp_path_factory.mktemp("registries") / "data", "--auth", "on", *named)
    server.developer = server.token_for("user:eve@example.com", "roles/ml.developer")
    yield server
    server.stop()


def create(server, image, token=None):
    training = {"region": "us-central1", "scaleTier": "CUSTOM", "masterType": "n1-standard-4", "masterConfig": {"imageUri": image}}
    return server.request("POST", "/v1/projects/p/jobs", token or server.developer,
                          json={"jobId": "j" + str(abs(hash(image))), "trainingInput": training})


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "127.0.0.2", "a.localhost", "0.0.0.0", "own"])
def test_an_images_name_leads_to_no_address_of_the_machine(server, name):
    host = own_address() if name == "own" else name
    if host is None:
        pytest.skip("this machine has loopback only")
    listener = Listener("0.0.0.0")
    try:
        refused = create(server, f"{host}:{listener.port}/p/image:v1")
        assert refused.status_code == 400, refused.text
        assert listener.asked == []
    finally:
        listener.stop()


@pytest.mark.parametrize("way", ["redirect", "login"])
def test_a_registry_leads_to_no_address_of_the_machine(server, registries, inner, way):
    made, leads = registries
    leads["to"] = f"http://127.0.0.1:{inner.port}"
    refused = create(server, f"127.0.0.1:{made[way].port}/p/image:v1")
    assert made[way].asked, "the operator named this one"
    assert inner.asked == []
    assert refused.status_code == 400 and "an address of the server's machine" in refused.text, refused.text


def test_the_administrator_names_registries_by_flags_only(server, inner):
    """The rule is the server's, not the caller's: who may all asks by it, too."""
    refused = create(server, f"127.0.0.1:{inner.port}/p/image:v1", server.token)
    assert refused.status_code == 400 and "--insecure-registry" in refused.text, refused.text
    assert inner.asked == []


def test_a_store_of_credentials_names_no_registry(tmp_path, monkeypatch, inner):
    """It may have credentials for any, so that the server's account has one says nothing about this one."""
    helper = tmp_path / "bin/docker-credential-fake"
    helper.parent.mkdir()
    helper.write_text("#!/bin/sh\ncat >/dev/null\necho credentials not found in native keychain\nexit 1\n")
    helper.chmod(0o755)
    settings = tmp_path / "docker/config.json"
    settings.parent.mkdir()
    settings.write_text('{"credsStore": "fake"}')
    monkeypatch.setenv("PATH", str(helper.parent), prepend=":")
    monkeypatch.setenv("DOCKER_CONFIG", str(settings.parent))
    server = Server(tmp_path / "data", "--auth", "on")
    try:
        refused = create(server, f"127.0.0.1:{inner.port}/p/image:v1", server.token)
        assert refused.status_code == 400 and "--insecure-registry" in refused.text, refused.text
        assert inner.asked == []
    finally:
        server.stop()


KIND = "application/vnd.oci.image."


class OwnRegistry(Listener):
    """Serves the tags and parts that it was given; all else is at `to`, by a redirect."""

    def __init__(self, to):
        self.to, self.parts = to, {}
        super().__init__(answer=self.part)

    def part(self, path):
        if path == "/v2/":
            return 200, {}
        content = self.parts.get(path.rpartition("/")[2])
        if content is None:
            return 307, {"Location": self.to + path}
        return 200, {"Content-Type": KIND + "manifest.v1+json"} if "/manifests/" in path else {}, content

    def add(self, content, kind):
        self.parts[digest(content)] = content
        return {"mediaType": KIND + kind, "digest": digest(content), "size": len(content)}

    def tag(self, tag, config, layers):
        manifest = {"schemaVersion": 2, "mediaType": KIND + "manifest.v1+json", "config": config, "layers": layers}
        self.parts[tag] = json.dumps(manifest).encode()
        self.add(self.parts[tag], "manifest.v1+json")


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def test_a_container_engine_is_led_to_no_address_of_the_machine(tmp_path, environments, images, make_engine, inner):
    """Its connections are not watched, so it pulls nothing: it is given what the server has pulled. A redirect leads there, or the
    address that a layer has besides, whose content is in the cache."""
    elsewhere = f"http://127.0.0.1:{inner.port}"
    registry = OwnRegistry(elsewhere)
    busybox = json.loads(images.blob(images["busybox"].digest))
    config = registry.add(images.blob(busybox["config"]["digest"]), "config.v1+json")
    layers = [{**layer, **registry.add(images.blob(layer["digest"]), layer["mediaType"].removeprefix(KIND))} for layer in busybox["layers"]]
    registry.tag("good", config, layers)
    absent = {**json.loads(images.blob(busybox["config"]["digest"])), "rootfs": {"type": "layers", "diff_ids": ["sha256:" + "1" * 64]}}
    registry.tag("redirect", registry.add(json.dumps(absent).encode(), "config.v1+json"), [{**layers[0], "digest": "sha256:" + "2" * 64}])
    registry.tag("urls", config, [{**layer, "urls": [elsewhere + "/layer"]} for layer in layers])
    name = f"127.0.0.1:{registry.port}"
    server = Server(tmp_path / "data", "--auth", "on", *api(make_engine(name)).flags, "--insecure-registry", name, environments=environments)
    try:
        for tag, state in {"good": "SUCCEEDED", "redirect": "FAILED", "urls": "FAILED"}.items():
            server.submit(tag, masterConfig={"imageUri": f"{name}/p/image:{tag}", "containerCommand": ["true"]})
            job = server.wait(tag)
            assert (job["state"], inner.asked) == (state, []), (job, server.texts(tag)[-20:])
            if state == "FAILED":
                assert "an address of the server's machine" in job["errorMessage"], job
        assert any("2" * 64 in path for path in registry.asked), "the layer was asked for"
    finally:
        server.stop()
        end_supervisors(server.data)
        registry.stop()
