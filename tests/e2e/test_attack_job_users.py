"""Jobs of a root server with users of their own (--job-users): a package tries what root may, and does what every trainer does."""

import json
import os
import re
import shutil
import stat
import subprocess

import pytest

import trainyard_server
from trainyard_server import RUNTIME, Server, end_supervisors, processes_with

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives jobs other users")

FIRST, LAST = 1_900_000_000, 1_999_999_999
BLOCK = 65536

GUEST = '''
import json, os, pathlib, ssl, stat, subprocess, sys, time, urllib.error, urllib.request

SERVER = os.environ["STORAGE_EMULATOR_HOST"]

def call(method, url, body=None, **headers):
    request = urllib.request.Request(url, body and body.encode(), {k.replace("_", "-"): v for k, v in headers.items()}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return [answer.status, answer.read().decode()]
    except urllib.error.HTTPError as error:
        return [error.code, ""]
    except OSError as error:
        return [0, str(error)]

def attempt(action):
    try:
        return repr(action())
    except OSError as error:
        return "no: " + error.strerror

def beside_its_module(text):
    """What was there, after which it writes."""
    there = pathlib.Path(__file__).with_name("vocabulary.txt")
    before = there.read_text() if there.exists() else ""
    there.write_text(text)
    return before

def mount():
    done = subprocess.run(["mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True)
    if done.returncode:
        raise OSError(1, "mount said " + str(done.returncode))

def main(administration, data, mode):
    name = sys.argv[sys.argv.index("--job-dir") + 1][len("gs://"):]
    bucket, _, folder = name.partition("/")
    out = pathlib.Path("/gcs") / name
    out.mkdir(parents=True, exist_ok=True)
    shared = pathlib.Path("/gcs/shared/object")
    before = shared.read_text() if shared.exists() else ""
    shared.parent.mkdir(exist_ok=True)
    shared.write_text(folder)
    (out / "by_file").write_text("by file")
    (out / "inner").mkdir()
    os.chmod(out / "by_file", 0o600)
    home, tmp = pathlib.Path.home() / "x", pathlib.Path("/tmp/x")
    for place in home, tmp, pathlib.Path("own"):
        place.write_text("x")
        os.chown(place, 1000, 1000)
    object_url = SERVER + "/storage/v1/b/" + bucket + "/o/" + folder + "%2F"
    results = {
        "ids": [os.getuid(), os.getgid(), os.getgroups()],
        "map": pathlib.Path("/proc/self/uid_map").read_text().split(),
        "capabilities": next(line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")),
        "cwd": os.getcwd(), "owners": [os.stat(p).st_uid for p in (".", str(home.parent), "/tmp", str(out), str(home))],
        "attacks": {
            "shadow": attempt(lambda: open("/etc/shadow").read()),
            "etc": attempt(lambda: open("/etc/trainyard-test", "w")),
            "machine's files": attempt(lambda: os.chmod("/etc/passwd", 0o666)),
            "signal": attempt(lambda: os.kill(1, 0)),
            "init's memory": attempt(lambda: open("/proc/1/mem", "rb")),
            "init's root": attempt(lambda: os.listdir("/proc/1/root")),
            "root's home": attempt(lambda: os.listdir("/root")) if os.stat("/root").st_mode & 1 == 0 else "no: open",
            "secret": attempt(lambda: open(data + "/run/secret").read()),
            "attempt": attempt(lambda: open(data + "/attempts/1-master-replica-0-1/manifest.pb").read()),
            "environments": attempt(lambda: open(os.environ["PYTHONPATH"].split(":")[0] + "/x", "w")),
            "mount": attempt(mount),
        },
        "administration": [call("GET", administration + "/v1/projects/p/jobs"),
                           call("POST", administration + "/v1/projects/p/jobs/x:cancel", "{}", Content_Type="application/json")],
        "read back": call("GET", object_url + "by_file?alt=media"),
        "upload": call("POST", SERVER + "/upload/storage/v1/b/" + bucket + "/o?uploadType=media&name=" + folder + "/by_http", "by http")[0],
        "uploaded": (out / "by_http").read_text(),
        "jobs": call("GET", SERVER + "/v1/projects/p/jobs")[0],
        "beside": [beside_its_module("first"), beside_its_module("second")],
        "before": before, "python": subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, text=True).stdout,
    }
    if "GCE_METADATA_ROOT" in os.environ:
        results["front"] = call("GET", "https://storage.googleapis.com/storage/v1/b/" + bucket + "/o/" + folder + "%2Fby_file?alt=media")
        token = "http://" + os.environ["GCE_METADATA_ROOT"] + "/computeMetadata/v1/instance/service-accounts/default/token"
        results["metadata"] = call("GET", token, Metadata_Flavor="Google")[0]
    with open("/dev/stdout", "w") as stdout:
        print("by name", file=stdout)
    print("GUEST " + json.dumps(results), flush=True)
    while mode == "stay" and not (out / "go").exists():
        time.sleep(0.05)

if __name__ == "__main__":
    main(*sys.argv[1:4])
'''


@pytest.fixture(scope="session")
def guest(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guest")
    (folder / "guest").mkdir()
    (folder / "guest/__init__.py").touch()
    (folder / "guest/task.py").write_text(GUEST)
    (folder / "setup.py").write_text("from setuptools import setup\nsetup(name='guest', version='1', packages=['guest'])\n")
    subprocess.run(["python3", "setup.py", "-q", "sdist"], cwd=folder, check=True, capture_output=True)
    return next((folder / "dist").glob("*.tar.gz")).read_bytes()


@pytest.fixture
def make_server(shared_folder, environments):
    """Its data directory is below a folder that others cannot enter, as root's home is."""
    servers = []

    def make(*flags):
        assert stat.S_IMODE(shared_folder.stat().st_mode) == 0o700
        servers.append(Server(shared_folder / "data", "--job-users", f"{FIRST}-{LAST}", *flags, environments=environments))
        return servers[-1]

    yield make
    for server in servers:
        server.stop()
        end_supervisors(server.data)


def submit(server, guest, job_id, mode="go", bucket="out", **more):
    uri = server.upload("packages", "guest.tar.gz", guest)
    server.submit(job_id, packageUris=[uri], pythonModule="guest.task", args=[server.url, str(server.data.resolve()), mode],
                  jobDir=f"gs://{bucket}/{job_id}", **more)


def reported(server, job_id):
    said = [text for text in server.texts(job_id) if text.startswith("GUEST ")]
    assert said, "\n".join(server.texts(job_id)[-12:])
    return json.loads(said[0].removeprefix("GUEST "))


def wait_for_report(server, job_id):
    server.wait(job_id, lambda job: "endTime" in job or any(text.startswith("GUEST ") for text in server.texts(job_id)))
    return reported(server, job_id)


def outer_ids(module, data):
    """Uid and Gid of the program on the machine, all four of each."""
    pid = next(pid for pid, _ in processes_with(module) if os.readlink(f"/proc/{pid}/cwd").startswith(str(data.resolve())))
    status = open(f"/proc/{pid}/status").read()
    groups = re.search(r"^Groups:[ \t]*(.*)$", status, re.MULTILINE)[1].split()
    return {int(number) for name in ("Uid", "Gid") for number in re.search(rf"^{name}:\t(.*)$", status, re.MULTILINE)[1].split()}, groups


@pytest.mark.parametrize("network", ["host", "isolated"])
def test_a_package_is_nobody_of_the_machine(network, make_server, guest):
    server = make_server("--network", network)
    submit(server, guest, "first", mode="stay")
    report = wait_for_report(server, "first")
    ids, groups = outer_ids("guest.task", server.data)
    assert ids == {FIRST + BLOCK} and groups == [], "job 1 has the second block"
    assert report["ids"] == [0, 0, []] and report["map"] == ["0", str(FIRST + BLOCK), str(BLOCK)]
    assert report["owners"] == [0, 0, 0, 0, 1000]
    succeeded = {name: got for name, got in report["attacks"].items() if not got.startswith("no: ")}
    assert not succeeded
    wanted = (403,) if network == "host" else (0,)  # an isolated network has no way there
    assert all(status in wanted for status, _ in report["administration"]), report["administration"]
    assert report["read back"] == [200, "by file"] and report["upload"] == 200 and report["uploaded"] == "by http"
    assert report["beside"] == ["", "first"]
    assert report["jobs"] == 200 and report["python"] == "1\n"
    assert "front" not in report or (report["front"], report["metadata"]) == ([200, "by file"], 200)
    assert "by name" in server.texts("first")
    out = server.data / "buckets/out/first"
    for path in out, out / "by_file", out / "inner", server.data / "buckets/shared/object":
        assert (path.stat().st_uid, path.stat().st_gid) == (0, 0), path
    assert (server.data / "attempts/1-master-replica-0-1/work").stat().st_uid == FIRST + BLOCK
    (out / "go").touch()
    assert server.wait("first")["state"] == "SUCCEEDED", server.texts("first")

    submit(server, guest, "second")  # of another block: the first one's objects are its to read and to write
    assert server.wait("second")["state"] == "SUCCEEDED", server.texts("second")
    report = reported(server, "second")
    assert report["map"][1] == str(FIRST + 2 * BLOCK) and report["before"] == "first"
    assert report["beside"] == ["", "first"], "what the first job wrote beside the module is its own"
    assert (server.data / "buckets/shared/object").read_text() == "second"


def test_a_shell_is_as_its_program(make_server, guest):
    server = make_server()
    submit(server, guest, "open", mode="stay", enableWebAccess=True)
    wait_for_report(server, "open")
    said = server.trainyard("jobs", "shell", "open", input="grep -E '^(Cap|NoNew|Seccomp:|Uid|Groups)' /proc/self/status; "
                            "cat /proc/self/uid_map; cat /etc/shadow; echo shadow=$?; echo $$ > /tmp/of-shell; "
                            "stat -c owner=%u /tmp/of-shell; tty\nexit\n")
    assert said.returncode == 0, said
    shown = dict(re.findall(r"(\w+):\s+(\w+)", said.stdout))
    assert shown["Uid"] == "0" and shown["NoNewPrivs"] == "1" and shown["Seccomp"] == "2", said.stdout
    assert int(shown["CapEff"], 16) == int(reported(server, "open")["capabilities"], 16) and int(shown["CapAmb"], 16) == 0
    assert re.search(rf"\b0\s+{FIRST + BLOCK}\s+{BLOCK}\b", said.stdout), said.stdout
    assert "shadow=1" in said.stdout and "owner=0" in said.stdout
    written = server.data / "attempts/1-master-replica-0-1/tmp/of-shell"
    assert written.stat().st_uid == FIRST + BLOCK
    server.cancel("open")
    server.wait("open")


def test_a_bucket_elsewhere_is_written_as_root(make_server, guest, shared_folder):
    elsewhere = shared_folder / "elsewhere"
    elsewhere.mkdir()
    os.chown(elsewhere, 1000, 1000)
    server = make_server("--bucket-dir", f"elsewhere={elsewhere}")
    submit(server, guest, "there", bucket="elsewhere")
    assert server.wait("there")["state"] == "SUCCEEDED", server.texts("there")[-20:]
    assert reported(server, "there")["read back"] == [200, "by file"]
    assert [(path.stat().st_uid, path.stat().st_gid) for path in (elsewhere, elsewhere / "there/by_file")] == [(1000, 1000), (0, 0)]


def test_several_replicas_find_each_other(make_server, upload):
    server = make_server("--network", "isolated")
    server.submit("ring", packageUris=[upload(server, "dist_sgd_stdlib")], pythonModule="trainer.task", jobDir="gs://out/ring",
                  args=["--mode=sync"], scaleTier="CUSTOM", masterType="n1-standard-4", workerType="n1-standard-4", workerCount="2",
                  parameterServerType="n1-standard-4", parameterServerCount="1")
    assert server.wait("ring")["state"] == "SUCCEEDED", server.texts("ring")[-30:]


def test_an_image_is_refused_with_the_reason(make_server):
    server = make_server()
    answer = server.create("image", masterConfig={"imageUri": "localhost:5000/i:1"}, scaleTier="CUSTOM", masterType="n1-standard-4")
    assert answer.status_code == 400 and "--job-users" in answer.text, answer.text


SERVE = [trainyard_server.PROGRAM, "serve", "--listen", "127.0.0.1:0", "--default-runtime", RUNTIME]


@pytest.mark.parametrize("flags, reason", [
    (["--job-users", "1000-1999999999"], "begins below 65536"),
    (["--job-users", "1900000000-1900000001"], "too small"),
    (["--job-users", f"{FIRST}-{LAST}", "--container-engine", "api"], "--job-users is for Python packages only"),
    (["--job-users", f"{FIRST}-{LAST}", "--container-engine", "oci"], "--job-users is for Python packages only"),
    (["--job-users", f"{FIRST}-{LAST}", "--bucket-dir", "elsewhere=/proc"], "cannot show /proc with the ids of a job"),
])
def test_what_cannot_be_is_refused_at_start(flags, reason, tmp_path):
    done = subprocess.run([*SERVE, "--data", str(tmp_path / "data"), *flags], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and reason in done.stderr, done


@pytest.mark.parametrize("less, reason", [
    (["--reuid", "64322", "--regid", "64322", "--clear-groups"], "only root can run jobs as other users"),
    (["--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"], "with the ids of a job: open_tree"),
])
@pytest.mark.skipif(not shutil.which("setpriv"), reason="needs setpriv")
def test_a_server_that_may_not_is_refused(less, reason, shared_folder):
    shared_folder.chmod(0o755)
    program = shutil.copy2(trainyard_server.PROGRAM, shared_folder / "trainyard")  # the user may not be allowed where it was built
    (shared_folder / "data").mkdir()
    if less[0] == "--reuid":
        os.chown(shared_folder / "data", int(less[1]), int(less[1]))
    done = subprocess.run(["setpriv", *less, program, *SERVE[1:], "--data", str(shared_folder / "data"), "--job-users", f"{FIRST}-{LAST}"],
                          capture_output=True, text=True, timeout=60, cwd="/")
    assert done.returncode != 0 and reason in done.stderr, done
