"""An installed package is shared by all jobs with the same content, of whatever project: by SHA-256, and of what was really installed."""

import hashlib
import io
import uuid
import zipfile

# Two different blocks with one MD5, of Wang and Yu, "How to Break MD5 and Other Hash Functions" (2005), and what they differ in.
BLOCK = bytes.fromhex(
    "d131dd02c5e6eec4693d9a0698aff95c2fcab58712467eab4004583eb8fb7f8955ad340609f4b30283e488832571415a085125e8f7cdc99fd91dbdf280373c5b"
    "d8823e3156348f5bae6dacd436c919c6dd53e2b487da03fd02396306d248cda0e99f33420f577ee8ce54b67080a80d1ec69821bcb6a8839396f9652b6ff72a70")
DIFFERS_AT = (19, 45, 59, 83, 109, 123)


def other_block():
    block = bytearray(BLOCK)
    for at in DIFFERS_AT:
        block[at] ^= 0x80
    return bytes(block)


def wheel(text, prefix=b""):
    """A zip archive may have anything before it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in {"pkg/__init__.py": "", "pkg/task.py": f"print({text!r})\n",
                              "pkg-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: pkg\nVersion: 1.0\n",
                              "pkg-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
                              "pkg-1.0.dist-info/RECORD": ""}.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return prefix + packed.getvalue()


def submit(server, job_id, content, bucket="team-data"):
    uri = server.upload(bucket, "pkg-1.0-py3-none-any.whl", content)
    server.submit(job_id, packageUris=[uri], pythonModule="pkg.task")


def test_two_packages_with_one_md5_share_no_layer(make_server, environments):
    server = make_server()
    said = uuid.uuid4().hex
    packages = {"one": wheel(said, BLOCK), "two": wheel(said, other_block())}
    assert packages["one"] != packages["two"]
    assert len({hashlib.md5(content).digest() for content in packages.values()}) == 1
    for job_id, content in packages.items():
        submit(server, job_id, content, job_id + "-data")
        job = server.wait(job_id)
        assert job["state"] == "SUCCEEDED", server.texts(job_id)
    programs = environments.glob("layers/*/lib/python*/site-packages/pkg/task.py")  # other tests make layers, too
    assert len([program for program in programs if said in program.read_text()]) == 2


def test_a_package_that_was_replaced_is_not_installed_in_anothers_place(make_server, tmp_path):
    """The layer has the name of what the job was created with: whoever replaces it while the job waits would put theirs into it."""
    server = make_server()
    assert server.trainyard("admin", "drain", "--data", str(server.data)).returncode == 0
    ours = f"of the team, {uuid.uuid4().hex}"  # no test before has made the layer
    submit(server, "attack", wheel(ours))
    server.upload("team-data", "pkg-1.0-py3-none-any.whl", wheel("of the attacker"))
    assert server.trainyard("admin", "drain", "--off", "--data", str(server.data)).returncode == 0
    job = server.wait("attack")
    assert job["state"] == "FAILED", server.texts("attack")
    assert "submit the job again" in job["errorMessage"], job
    submit(server, "team", wheel(ours), "another")
    assert server.wait("team")["state"] == "SUCCEEDED"
    texts = server.texts("team")
    assert ours in texts and "of the attacker" not in texts
