"""Runtime versions: built once, resumed after a kill, told apart from broken downloads, used without a network, removed."""

import base64
import hashlib
import http.server
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import threading
import time
import zipfile

import pytest

from process_output import Output
from trainyard_server import DEADLINE_S, PROGRAM, ROOT, RUNTIME, Server, wait_for


def wheel(name, version):
    """A wheel with one module, big enough to be cut in its middle."""
    content = io.BytesIO()
    files = {f"{name}/__init__.py": f"VERSION = '{version}'\n".encode(), f"{name}/blob": os.urandom(200_000),
             f"{name}-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
             f"{name}-{version}.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}\n"
                     for path, data in files.items()) + f"{name}-{version}.dist-info/RECORD,,\n"
    files[f"{name}-{version}.dist-info/RECORD"] = record.encode()
    with zipfile.ZipFile(content, "w") as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return content.getvalue()


class Index:
    """A package index (PEP 503) of one package, which may cut its downloads or hold them back."""

    def __init__(self):
        self.file, self.content = "demo_one-1.0-py3-none-any.whl", wheel("demo_one", "1.0")
        self.cut, self.held, self.downloads = False, threading.Event(), 0
        self.held.set()
        index = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if self.path.startswith("/simple/demo-one"):
                    page = f'<!DOCTYPE html><html><body><a href="/files/{index.file}">{index.file}</a></body></html>'
                    return self.answer("text/html", page.encode())
                if self.path == f"/files/{index.file}":
                    index.downloads += 1
                    return self.answer("application/octet-stream", index.content, index.cut)
                self.send_error(404)

            def answer(self, kind, content, cut=False):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[:len(content) // 2])
                self.wfile.flush()
                index.held.wait(DEADLINE_S)
                if cut:
                    self.close_connection = True
                    return self.connection.shutdown(2)
                self.wfile.write(content[len(content) // 2:])

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/simple"


@pytest.fixture
def index():
    index = Index()
    yield index
    index.held.set()
    index.server.shutdown()


def define(data, version, packages, **more):
    folder = data / "environments/runtimes.d"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{version}.json").write_text(json.dumps({"version": version, "pythons": ["3.11"], "packages": packages, **more}))


@pytest.fixture(params=["uv", "pip"])
def tool(request, environments, make_server):
    """The variables that leave only one of the two installers; pip is what is left where uv cannot be had."""
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    if request.param == "pip":
        return {"PATH": path}
    data = environments.parent / "uv"
    (data / "environments").mkdir(parents=True, exist_ok=True)
    if not (uv := shutil.which("uv", path=f"{environments}/tools/uv/bin:{data}/environments/tools/uv/bin")):
        define(data, "uv", ["pip"])
        done = subprocess.run([PROGRAM, "runtimes", "install", "uv", "--data", data], capture_output=True, text=True)
        uv = shutil.which("uv", path=f"{data}/environments/tools/uv/bin")
        if not uv:
            pytest.skip(f"uv cannot be installed here: {done.stderr.splitlines()[-1]}")
    assert uv is not None
    return {"PATH": f"{pathlib.Path(uv).parent}:{path}"}


def command(data, *words, tool, index=None, start=subprocess.run):
    """A runtimes command, with only our own index in reach."""
    url = index.url if index else "http://127.0.0.1:9/simple"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
    environment = {**clean, **tool, "PIP_INDEX_URL": url, "UV_DEFAULT_INDEX": url, "PIP_CONFIG_FILE": "/dev/null",
                   "PIP_RETRIES": "1", "UV_HTTP_RETRIES": "1", "HOME": str(data)}
    streams = {"capture_output": True} if start is subprocess.run else {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return start([PROGRAM, "runtimes", *words, "--data", str(data)], env=environment, text=True, **streams)


def state(data, version, tool):
    listed = json.loads(command(data, "list", "--format", "json", tool=tool).stdout)
    return next(one for one in listed if one["version"] == version)


# With pip, too, by ./dev test --long: the other tests of `tool` show its ways in every run.
WITH_UV = pytest.mark.parametrize("tool", ["uv", pytest.param("pip", marks=pytest.mark.long)], indirect=True)


def test_install_list_describe_remove(tmp_path, index, tool):
    define(tmp_path, "demo", ["demo-one==1.0"], locked=True, notes="for this test")
    assert state(tmp_path, "demo", tool)["state"] == "can be built"
    assert command(tmp_path, "remove", "demo", tool=tool).returncode == 1
    done = command(tmp_path, "install", "demo", tool=tool, index=index)
    assert done.returncode == 0 and "Built runtime version demo in " in done.stderr, done.stderr
    seen = state(tmp_path, "demo", tool)
    assert seen["state"] == "built" and seen["python"] == "3.11" and int(seen["sizeBytes"]) > 200_000
    python = pathlib.Path(seen["folder"]) / "bin/python"
    assert subprocess.run([python, "-c", "import demo_one; print(demo_one.VERSION)"], capture_output=True).stdout == b"1.0\n"
    assert list(pathlib.Path(seen["folder"]).glob("lib/python3.11/site-packages/demo_one/__pycache__/*.pyc")), "no bytecode"
    assert "demo-one==1.0" in command(tmp_path, "describe", "demo", tool=tool).stdout
    again = command(tmp_path, "install", "demo", tool=tool)
    assert again.returncode == 0 and "is already installed" in again.stderr and index.downloads == 1
    removed = command(tmp_path, "remove", "demo", tool=tool)
    assert removed.returncode == 0 and removed.stderr.startswith("Removed demo ("), removed.stderr
    assert not pathlib.Path(seen["folder"]).exists() and state(tmp_path, "demo", tool)["state"] == "can be built"
    # Its downloads lie beside it: they are listed, and go by their own name.
    assert "trainyard runtimes remove cache" in removed.stderr and re.search(r"(?m)^cache +\d", command(tmp_path, "list", tool=tool).stdout)
    emptied = command(tmp_path, "remove", "cache", tool=tool)
    assert emptied.stderr.startswith("Removed the cache of downloads (") and not (tmp_path / "environments/cache").exists(), emptied
    assert "cache" not in command(tmp_path, "list", tool=tool).stdout


@WITH_UV
def test_a_broken_download_is_named_and_leaves_nothing(tmp_path, index, tool):
    define(tmp_path, "demo", ["demo-one==1.0"], locked=True)
    index.cut = True
    done = command(tmp_path, "install", "demo", tool=tool, index=index)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ERROR: (trainyard.runtimes.install)") and "demo" in last.split(")", 1)[1], done.stderr
    assert "is incomplete or damaged" in last and "demo_one" in last.replace("-", "_"), done.stderr
    assert state(tmp_path, "demo", tool)["state"] == "can be built"
    assert not list((tmp_path / "environments/runtimes").glob("demo-*/*"))
    index.cut = False
    done = command(tmp_path, "install", "demo", tool=tool, index=index)
    assert done.returncode == 0, done.stderr


@WITH_UV
def test_no_index(tmp_path, tool):
    define(tmp_path, "demo", ["demo-one==1.0"], locked=True)
    done = command(tmp_path, "install", "demo", tool=tool)
    assert done.returncode == 1 and "Could not reach the package index" in done.stderr, done.stderr


def test_a_killed_build_goes_on(tmp_path, index, tool):
    define(tmp_path, "demo", ["demo-one==1.0"], locked=True)
    index.held.clear()
    with command(tmp_path, "install", "demo", tool=tool, index=index, start=subprocess.Popen) as build:
        wait_for(lambda: (tmp_path / "environments/runtimes").exists() and list((tmp_path / "environments/runtimes").glob(
            "demo-*/bin/python")) or None, lambda: f"no folder: {build.poll()}")
        assert state(tmp_path, "demo", tool)["state"] == "being built"
        build.kill()
    index.held.set()
    wait_for(lambda: None if state(tmp_path, "demo", tool)["state"] == "being built" else True, lambda: "its installer lives")
    assert state(tmp_path, "demo", tool)["state"] == "can be built"
    done = command(tmp_path, "install", "demo", tool=tool, index=index)
    assert done.returncode == 0 and state(tmp_path, "demo", tool)["state"] == "built", done.stderr


@WITH_UV
def test_two_that_need_it_build_it_once(tmp_path, index, tool):
    define(tmp_path, "demo", ["demo-one==1.0"], locked=True)
    index.held.clear()
    builds = [command(tmp_path, "install", "demo", tool=tool, index=index, start=subprocess.Popen) for _ in range(2)]
    wait_for(lambda: state(tmp_path, "demo", tool)["state"] == "being built" or None, lambda: "nobody builds")
    index.held.set()
    said = [build.communicate(timeout=DEADLINE_S)[1] for build in builds]
    assert [build.returncode for build in builds] == [0, 0], said
    assert index.downloads == 1 and sum("Built runtime version demo" in text for text in said) == 1


def test_unknown_and_impossible_versions(tmp_path):
    tool = {}
    done = command(tmp_path, "install", "9.9", tool=tool)
    assert done.returncode == 1 and "There is no runtime version [9.9]" in done.stderr
    define(tmp_path, "future", [], system_modules={"no_such_module_here": "python3-nosuch"})
    done = command(tmp_path, "install", "future", tool=tool)
    assert done.returncode == 1 and "apt install python3-nosuch" in done.stderr
    assert "apt install python3-nosuch" in state(tmp_path, "future", tool)["state"]


COMMON = ["numpy", "pandas", "sklearn", "yaml", "hypertune", "google.cloud.storage", "gcsfs"]
TENSORFLOW = ["tensorflow", "xgboost", "keras", "matplotlib", "PIL", "pyarrow", "googleapiclient", "google.cloud.bigquery", *COMMON]
LIBRARIES = {"2.15": TENSORFLOW, "2.21": TENSORFLOW, "pytorch": [*COMMON, "torch"],
             "pytorch-2.15": [*COMMON, "torch", "torchvision", "tensorboard", "matplotlib"]}


def test_the_documented_packages_are_those_of_the_lists():
    rows = [[cell.strip(" `") for cell in line.strip("|\n ").split("|")]
            for line in (ROOT / "docs/runtimes.md").read_text().split("## Packages")[1].split("\n## ")[0].splitlines()
            if line.startswith("|")]
    assert len(rows) == 2 + 14
    for version, *cells in rows[2:]:
        runtime = json.loads((ROOT / f"data/runtimes/{version}.json").read_text())
        pins = {**dict(package.split("==") for package in runtime["packages"]), **runtime.get("provides", {})}
        assert cells == [pins[name] for name in rows[0][1:]], version


@pytest.mark.parametrize("version", ["2.15", pytest.param("2.21", marks=pytest.mark.long), "pytorch",
                                     pytest.param("pytorch-2.15", marks=pytest.mark.long)])
def test_what_runtime_versions_have(version, server, upload, runtime):
    runtime(version)
    server.submit("libraries", packageUris=[upload(server, "probe")], pythonModule="probe.libraries", args=LIBRARIES[version],
                  runtimeVersion=version)
    assert server.wait("libraries")["state"] == "SUCCEEDED", "\n".join(server.texts("libraries")[-12:])
    line = next(text for text in server.texts("libraries") if text.startswith("libraries: "))
    seen = json.loads(line.removeprefix("libraries: "))
    print(version, seen)
    assert seen["gsutil"].startswith("gsutil version: 5.")
    assert not seen["writable"] and seen["bytecode"]
    if not version.startswith("pytorch"):
        assert seen["versions"]["tensorflow"].startswith(version)
    assert "running with runtime version" not in "".join(server.texts("libraries", "service"))


def listed(*words, env):
    """The list, by version, and what was said beside it."""
    done = subprocess.run([PROGRAM, "runtimes", "list", "--format", "json", *words], capture_output=True, text=True, timeout=DEADLINE_S,
                          env={"PATH": os.environ["PATH"], **env})
    assert done.returncode == 0, done.stderr
    return {one["version"]: one for one in json.loads(done.stdout)}, done.stderr


def test_the_list_is_the_running_servers(tmp_path):
    """What is installed into its data directory is seen, by whatever names the server; without one, the directory is looked at."""
    first, second = Server(tmp_path / "first"), Server(tmp_path / "second")  # with environments of their own
    try:
        done = subprocess.run([PROGRAM, "runtimes", "install", RUNTIME, "--data", str(first.data)], capture_output=True, text=True,
                              timeout=DEADLINE_S)
        assert done.returncode == 0, done.stderr
        home, own, others = {"HOME": str(tmp_path)}, {"TRAINYARD_DATA": str(first.data)}, {"TRAINYARD_DATA": str(second.data)}
        for words, env in (([], own), (["--data", str(first.data)], {}), (["--server", first.url], others),
                           ([], {"TRAINYARD_SERVER": first.url})):
            runtimes, said = listed(*words, env={**home, **env})
            assert runtimes[RUNTIME]["state"] == "built" and not said, (words, env)
            assert runtimes[RUNTIME]["folder"].startswith(str(first.data / "environments"))
            assert [name for name, one in runtimes.items() if one.get("isDefault")] == [RUNTIME]  # it was started so
        runtimes, said = listed("--server", second.url, env={**home, **own})
        assert runtimes[RUNTIME]["state"] == "can be built" and not said
        assert first.request("GET", "/trainyard/v1/runtimes").json()["runtimes"]
    finally:
        first.stop()
        second.stop()
    runtimes, said = listed(env={**home, **own})
    assert runtimes[RUNTIME]["state"] == "built"
    assert said == f"No server answers, so these are the runtime versions of the data directory {first.data}.\n"


def test_a_running_job_keeps_its_runtime(server, upload):
    server.submit("busy", packageUris=[upload(server, "probe")], pythonModule="probe.ticks", args=["600"])
    server.wait("busy", until=lambda job: job["state"] == "RUNNING")
    refused = server.trainyard("runtimes", "remove", RUNTIME, "--data", str(server.data))
    assert refused.returncode == 1 and f"a running replica uses {RUNTIME}" in refused.stderr
    listed = json.loads(server.trainyard("runtimes", "list", "--format", "json", "--data", str(server.data)).stdout)
    used = next(one for one in listed if one["version"] == RUNTIME)
    assert used["state"] == "built" and used["lastUse"] and int(used["packageLayers"]) >= 1
    server.cancel("busy")
    assert server.wait("busy")["state"] == "CANCELLED"


@pytest.mark.skipif(os.geteuid() != 0, reason="cutting the network off needs root")
def test_a_warm_start_needs_no_network(server, upload, make_server):
    """The same job twice: the second one on a server that has nothing but its own loopback."""
    job = {"packageUris": [upload(server, "probe")], "pythonModule": "probe.first"}
    server.submit("warm", **job)
    assert server.wait("warm")["state"] == "SUCCEEDED"
    server.stop()
    process = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", PROGRAM, "serve", "--data", str(server.data),
         "--listen", "127.0.0.1:0", "--default-runtime", RUNTIME], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = Output(process.stdout).line().split()[-1]
        inside = ["nsenter", f"--net=/proc/{process.pid}/ns/net"]
        assert subprocess.run([*inside, "ip", "route"], capture_output=True, text=True, check=True).stdout == ""
        config = server.data / "offline.json"
        config.write_text(json.dumps({"trainingInput": job}))
        begin = time.monotonic()
        done = subprocess.run(
            [*inside, PROGRAM, "jobs", "submit", "training", "offline", "--region", "us-central1", "--module-name", "probe.first",
             "--packages", job["packageUris"][0], "--stream-logs", "--server", url, "--project", "p"],
            capture_output=True, text=True, timeout=DEADLINE_S)
        took = time.monotonic() - begin
        assert done.returncode == 0, done.stderr
        assert "SUCCEEDED" in done.stdout
        for word in ("Building", "Installing", "Downloading", "Running command: pip3"):
            assert word not in done.stderr
        print(f"offline job with a stream of its log: {took:.1f} s")
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@pytest.mark.long
def test_two_jobs_of_200_replicas(make_server, upload, record_property):
    server = make_server()
    job = {"packageUris": [upload(server, "probe")], "pythonModule": "probe.roll_call", "scaleTier": "CUSTOM",
           "masterType": "n1-standard-4", "workerType": "n1-standard-4", "workerCount": "150",
           "parameterServerType": "n1-standard-4", "parameterServerCount": "49"}
    begin = time.monotonic()
    for job_id in ("left", "right"):
        server.submit(job_id, **job)
    for job_id in ("left", "right"):
        assert server.wait(job_id)["state"] == "SUCCEEDED", server.texts(job_id)[-20:]
        line = next(text for text in server.texts(job_id, "master-replica-0") if text.startswith("roll call: "))
        assert json.loads(line.removeprefix("roll call: ")) == {
            "replicas": 200, "heard": 200, "complete": True, "clusters": 1, "ports": 200, "wrong_neighbours": 0}
    took = time.monotonic() - begin
    record_property("seconds", took)
    print(f"two jobs of 200 replicas: {took:.1f} s")


SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DEPENDENCIES = ["libssl", "libcrypto", "libffi", "libsqlite3", "libz.", "libbz2", "liblzma", "libreadline", "libncurses", "libtinfo"]


def old_python():
    """A Python 3.7 that can be put into an image, as pyenv makes them: PREFIX/bin and PREFIX/lib."""
    root = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    found = sorted(root.glob("versions/3.7.*/bin/python3.7"))
    if not found:
        pytest.skip("no Python 3.7 of pyenv, for an image")
    return found[-1].parent.parent


def layer_with_python(prefix):
    """A layer as the official image's: the Python in /usr/local, the libraries that it needs in /usr/lib."""
    buffer = io.BytesIO()
    library = prefix / "lib/python3.7"
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.add(prefix / "bin/python3.7", "usr/local/bin/python3.7")
        for shared in sorted(prefix.glob("lib/libpython3.7m.so*")):
            tar.add(shared, f"usr/local/lib/{shared.name}")
        tar.add(prefix / "include", "usr/local/include")
        left_out = re.compile(r"/(__pycache__|test|idlelib|site-packages|config-[^/]*)(/|$)|\.a$")
        tar.add(library, "usr/local/lib/python3.7", filter=lambda info: None if left_out.search(info.name) else info)
        programs = [prefix / "bin/python3.7", *library.glob("lib-dynload/*.so")]
        needed = subprocess.run(["ldd", *programs], capture_output=True, text=True).stdout
        for name, path in sorted(set(re.findall(r"(\S+) => (/\S+)", needed))):
            if any(name.startswith(dependency) for dependency in DEPENDENCIES):
                tar.add(os.path.realpath(path), f"usr/lib/x86_64-linux-gnu/{name}")
    return buffer.getvalue()


@pytest.fixture
def stock(tmp_path, index):
    """The commands, and a server, of an account that has this machine's Python only."""
    hidden = {"PYENV_ROOT", "CONDA_PREFIX", "UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME"}
    clean = {name: value for name, value in os.environ.items() if name not in hidden and not name.startswith(("PIP_", "UV_"))}
    return {**clean, "PATH": SYSTEM_PATH, "HOME": str(tmp_path), "PIP_INDEX_URL": index.url, "UV_DEFAULT_INDEX": index.url,
            "PIP_CONFIG_FILE": "/dev/null", "PIP_RETRIES": "1", "UV_HTTP_RETRIES": "1"}


def test_a_python_comes_from_an_image_and_a_running_server_notices(tmp_path, images, registry, stock, monkeypatch, upload):
    images.derive("busybox", "python37", layers=[layer_with_python(old_python())], env=["PATH=/usr/local/bin:/usr/bin:/bin"])
    reference = registry.push(images["python37"])
    for name in set(os.environ) - set(stock):
        monkeypatch.delenv(name)
    for name, value in stock.items():
        monkeypatch.setenv(name, value)
    data = tmp_path / "data"
    define(data, "3.1", [], pythons=["3.7"], locked=True)
    define(data, "4.1", [], pythons=["3.11"], locked=True)
    server = Server(data)
    try:
        server.submit("before", runtimeVersion="3.1", packageUris=[upload(server, "probe")], pythonModule="probe.first")
        assert server.wait("before")["state"] == "SUCCEEDED"
        assert server.texts("before", "service")[4] == (
            "runtime version 3.1 asks for Python 3.7, which this machine does not have; running with runtime version 4.1 "
            "(Python 3.11) instead. To install it here: trainyard runtimes install 3.1 --from-image python:3.7-slim"), \
            server.texts("before", "service")
        refused = server.trainyard("runtimes", "install", "3.1", "--from-image", registry.push(images["busybox"]), "--data", data)
        assert refused.returncode == 1 and refused.stderr.strip().endswith("has no Python 3.7. It has none."), refused.stderr
        done = server.trainyard("runtimes", "install", "3.1", "--from-image", reference, "--data", data)
        assert done.returncode == 0 and "Built runtime version 3.1 in " in done.stderr, done.stderr
        server.submit("after", runtimeVersion="3.1", packageUris=[upload(server, "probe")], pythonModule="sysconfig")
        assert server.wait("after")["state"] == "SUCCEEDED", server.texts("after")
        assert 'Python version: "3.7"' in server.texts("after")
        assert "running with runtime version" not in "".join(server.texts("after", "service"))
        python, = (data / "environments/pythons").glob("image-3.7-*/bin/python3.7")
        maps = "import ssl, sqlite3, bz2, lzma; print(ssl.OPENSSL_VERSION); print(open('/proc/self/maps').read())"
        seen = subprocess.run([python, "-I", "-c", maps], capture_output=True, text=True, env={})
        assert seen.returncode == 0 and f"{python.parent.parent}/lib/libssl.so" in seen.stdout, seen
    finally:
        server.stop()


@pytest.mark.parametrize("tool", ["uv"], indirect=True)
def test_a_version_of_ones_own_can_have_packages_of_jobs(tmp_path, index, tool):
    """Where a list names no pip, packages of jobs could not be installed, as with the example of docs/runtimes.md."""
    define(tmp_path, "mine", ["demo-one==1.0"], locked=True)
    done = command(tmp_path, "install", "mine", tool=tool, index=index)
    assert done.returncode == 0, done.stderr
    python = pathlib.Path(state(tmp_path, "mine", tool)["folder"]) / "bin/python"
    assert subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode == 0


# uv without an index; the Python that its runtimes get has no ensurepip.
OFFLINE_UV = """#!/bin/sh
for last; do :; done
case "$1 $2 $last" in
"venv"*) /usr/bin/python3 -m venv --without-pip "$last" && rm "$last/bin/python" "$last/bin/python3" &&
  printf '#!/bin/sh\\ncase "$2" in ensurepip|pip) echo "python: No module named $2" >&2; exit 1;; esac\\nexec /usr/bin/python3 "$@"\\n' \\
    > "$last/bin/python" && chmod 755 "$last/bin/python" && cp "$last/bin/python" "$last/bin/python3";;
*" pip") echo "error: No index is in reach" >&2; exit 2;;
esac
"""


def test_a_version_without_a_pip_that_can_be_had_is_built_and_says_so(tmp_path):
    uv = tmp_path / "bin/uv"
    uv.parent.mkdir()
    uv.write_text(OFFLINE_UV)
    uv.chmod(0o755)
    define(tmp_path, "mine", ["demo-one==1.0"], locked=True)
    done = command(tmp_path, "install", "mine", tool={"PATH": f"{uv.parent}:/usr/sbin:/usr/bin:/sbin:/bin"})
    assert done.returncode == 0, done.stderr
    assert "It has no pip, so jobs with packages cannot use it" in done.stdout + done.stderr, (done.stdout, done.stderr)
    assert state(tmp_path, "mine", {})["folder"]


@pytest.mark.parametrize("version, said", [
    ("1.4", "1.4 needs Python 2.7 or 3.5, for which current tools install no packages. Jobs that request it run with runtime version 2.15 "
            "(Python 3.11)."),
    ("2.4", "uv: No download found for request: cpython-3.7. Take it from a container image: trainyard runtimes install 2.4 --from-image "
            "python:3.7-slim")])
def test_what_an_old_version_needs(tmp_path, stock, version, said):
    uv = tmp_path / "bin/uv"
    uv.parent.mkdir()
    uv.write_text("#!/bin/sh\necho \"error: No download found for request: cpython-$4\" >&2\nexit 2\n")
    uv.chmod(0o755)
    done = subprocess.run([PROGRAM, "runtimes", "install", version, "--data", tmp_path / "data"], capture_output=True, text=True,
                          env={**stock, "PATH": f"{uv.parent}:{SYSTEM_PATH}"})
    assert done.returncode == 1 and done.stderr.strip().endswith(said), done.stderr


def test_the_tools_output_is_a_file_and_the_log_has_a_summary(server, tmp_path):
    """pip's own lines: whole on request, for a job that only uses what was installed, too, and for one whose installation failed."""
    def package(name, setup):
        folder = tmp_path / name
        (folder / "quiet").mkdir(parents=True)
        (folder / "quiet/__init__.py").write_text(f"NAME = {os.urandom(8).hex()!r}\n")  # not installed yet
        (folder / "quiet/task.py").write_text("print('ran')\n")
        (folder / "setup.py").write_text(f"{setup}\nfrom setuptools import setup\nsetup(name='quiet', version='1', packages=['quiet'])\n")
        made = tmp_path / f"{name}.tar.gz"
        with tarfile.open(made, "w:gz") as archive:
            archive.add(folder, "quiet-1")
        return server.upload("packages", made.name, made.read_bytes())

    good = package("good", "")
    for job_id in ("first", "second"):
        server.submit(job_id, packageUris=[good], pythonModule="quiet.task", runtimeVersion=RUNTIME)
        assert server.wait(job_id)["state"] == "SUCCEEDED", server.texts(job_id)
        shown = server.trainyard("jobs", "preparation", job_id)
        assert shown.returncode == 0 and "== Packages\nRunning command: pip3 install" in shown.stdout, shown
        assert "Processing " in shown.stdout and "Successfully installed quiet-1" in shown.stdout, shown.stdout
    texts = server.texts("first")
    assert not [text for text in texts if text.startswith(("Processing ", "Building wheel", "Successfully installed"))], texts
    assert [text for text in texts if re.fullmatch(r"Installed in \d+ s: 1 package\. All output: trainyard jobs preparation first", text)], texts

    server.submit("failing", packageUris=[package("bad", "print('halfway', flush=True)\nimport not_there")], pythonModule="quiet.task",
                  runtimeVersion=RUNTIME)
    job = server.wait("failing")
    assert job["state"] == "FAILED" and "No module named 'not_there'" in job["errorMessage"], job
    assert any("ModuleNotFoundError" in text for text in server.texts("failing"))  # the tail
    assert "halfway" in server.trainyard("jobs", "preparation", "failing").stdout

    nothing = server.trainyard("jobs", "preparation", "nosuch")
    assert nothing.returncode == 1 and "The job cannot be found." in nothing.stderr, nothing
