"""Trainers of the usual tutorials' shape (tests/trainers/tutorials), unmodified: each is checked by its files in the bucket."""

import io
import json
import random
import struct
import zipfile

import pytest

from trainyard_server import Server, processes_with, wait_for

TENSORFLOW = "2.15"


@pytest.fixture(scope="module")
def server(tmp_path_factory, environments):
    server = Server(tmp_path_factory.mktemp("trainers"), "--restart-pause", "0", "--stop-grace", "1", environments=environments)
    yield server
    server.stop()


@pytest.fixture
def submit(server, upload, runtime):
    """Submits one of the tutorials."""
    def go(module, job_id, args=(), **training_input):
        runtime(training_input.setdefault("runtimeVersion", TENSORFLOW))
        training_input.setdefault("jobDir", f"gs://out/{job_id}")
        server.submit(job_id, packageUris=[upload(server, "tutorials")], pythonModule=f"tutorials.{module}", args=list(args),
                      **{name: value for name, value in training_input.items() if value is not None})
        return server.wait(job_id)
    return go


@pytest.fixture
def run(server, submit):
    """Runs one to its success and returns the folder that its job-dir is."""
    def go(module, job_id, args=(), **training_input):
        job = submit(module, job_id, args, **training_input)
        assert job["state"] == "SUCCEEDED" and "errorMessage" not in job, (job, server.texts(job_id)[-60:])
        return server.data / "buckets/out" / job_id
    return go


def array(code, shape, content):
    """A file in numpy's own format."""
    header = repr({"descr": code, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


def images(count, seed):
    """Digits nobody wrote: digit N is a bright bar in column 2N + 4 of 28, in noise."""
    rng = random.Random(seed)
    labels = [rng.randrange(10) for _ in range(count)]
    pixels = bytearray()
    for label in labels:
        row = bytearray(28)
        row[2 * label + 4:2 * label + 6] = b"\xff\xff"
        noise = rng.randbytes(28 * 28)
        pixels += bytes(wanted // 2 + noisy // 4 for wanted, noisy in zip(row * 28, noise))
    return array("|u1", (count, 28, 28), bytes(pixels)), array("|u1", (count,), bytes(labels))


@pytest.fixture(scope="module")
def mnist(server):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for part, count in ("train", 600), ("test", 100):
            for name, content in zip("xy", images(count, part)):
                archive.writestr(f"{name}_{part}.npy", content)
    return server.upload("data", "mnist.npz", packed.getvalue())


def test_keras_saves_each_epoch_and_goes_on_from_there(server, run, mnist):
    folder = run("keras_mnist", "mnist", ["--train-file", mnist, "--num-epochs=2"])
    assert (folder / "checkpoints/cp-0002.index").exists() and (folder / "keras_export/saved_model.pb").stat().st_size > 10_000
    assert list(folder.glob("keras_export/variables/variables.data-*")) and list(folder.glob("keras_tensorboard/validation/events.*"))
    assert [line.split(",")[0] for line in (folder / "history.csv").read_text().split()] == ["epoch", "0", "1"]
    run("keras_mnist", "mnist_more", ["--train-file", mnist, "--num-epochs=5"], jobDir="gs://out/mnist")
    assert "resuming after epoch 2 from gs://out/mnist/checkpoints/cp-0002" in server.texts("mnist_more")
    assert [line.split(",")[0] for line in (folder / "history.csv").read_text().split()] == ["epoch", "2", "3", "4"]
    assert float((folder / "accuracy.txt").read_text()) > 0.9 and (folder / "checkpoints/cp-0005.index").exists()


def test_tensorflow_1_with_a_session(run):
    folder = run("tf1_session", "session", ["--max_steps=150"])
    weight, bias, step = map(float, (folder / "line.txt").read_text().split())
    assert (weight, bias, step) == (pytest.approx(3, abs=0.05), pytest.approx(0.5, abs=0.05), 150)
    assert (folder / "graph.pbtxt").exists() and (folder / "model.ckpt-150.index").exists() and list(folder.glob("events.out.*"))


def test_scikit_learn_with_pandas_from_gs(server, run):
    rng = random.Random(3)
    rows = [(rng.randint(18, 70), rng.randint(5, 60), rng.choice(["baker", "banker", "Bühler"])) for _ in range(600)]
    lines = ["age, hours, job, rich", *(f"{age}, {hours}, {job}, {hours > 30 and job != 'baker'}" for age, hours, job in rows)]
    table = server.upload("data", "census/people & others.csv", "\n".join(lines).encode())
    folder = run("sklearn_census", "census", ["--data", table])
    assert len(list(folder.glob("census_2*/model.joblib"))) == 1
    predictions = [line.split(",") for line in (folder / "predictions.csv").read_text().splitlines()]
    assert predictions[0] == ["age", "hours", "job", "rich", "predicted"] and len(predictions) == 101
    assert sum(row[3] == row[4] for row in predictions[1:]) > 95 and "Bühler" in {row[2] for row in predictions}


def test_xgboost_with_a_matrix_from_gs(server, run):
    rng = random.Random(5)
    rows = [[rng.uniform(-1, 1) for _ in range(3)] for _ in range(500)]
    text = "".join(f"{int(a * b > 0)} 0:{a} 1:{b} 2:{c}\n" for a, b, c in rows)
    folder = run("xgboost_libsvm", "boost", ["--train", server.upload("data", "train.libsvm", text.encode())])
    result = json.loads((folder / "result.json").read_text())
    assert result["rows"] == 500 and result["error"] < 0.1 and (folder / "model.bst").stat().st_size > 1000


def test_gsutil_in_each_way(server, run):
    for part in range(5):
        server.upload("data", f"parts/part-{part}", f"{part}\n{part * 10}\n".encode())
    folder = run("gsutil_commands", "gsutil", ["gs://data/parts"])
    assert (folder / "model/variables/sum.txt").read_text() == "110"
    assert (folder / "names.txt").read_text().split() == [f"part-{part}" for part in range(5)]
    assert int((folder / "lines.txt").read_text()) == 4


def test_a_local_relative_path(server, run):
    """Without a job-dir nothing is kept, as on the original; /gcs is a folder for those who know no other."""
    run("local_paths", "local", jobDir=None)
    assert "wrote ['checkpoints/epoch-1/weights.txt', 'log.txt']" in server.texts("local")
    assert not (server.data / "buckets/out/local").exists()
    wait_for(lambda: not list(server.data.glob("attempts/*/work/checkpoints")) or None, lambda: "the working directory is left")
    folder = run("local_paths", "copied", ["--copy=/gcs/out/copied/model"])
    assert (folder / "model/epoch-1/weights.txt").read_text() == "baker banker builder"


EXACT = ["", " ", "a b", "'single' \"double\"", "two\nlines\r\n", "\ttab", "--", "-", "-x", "--flag=", "--name=va lue", "$HOME `id` $(id)", "*", "~",
         "\\", "\\n", "é — 漢字 🚂", "e\u0301", "\u202eabc", "a=b=c", "{\"json\": [1]}", "%s %d", "#!;&|<>", "x" * 50_000, "\x01\x7f",
         "--job-dir", "gs://not/this", "{job_id}", "None"]


def test_arguments_arrive_byte_for_byte(server, run):
    folder = run("exact_arguments", "exact", EXACT)
    arrived = [bytes.fromhex(word).decode() for word in json.loads((folder / "arguments.json").read_text())]
    assert arrived == [*EXACT, "--job-dir", "gs://out/exact"]


def test_arguments_of_the_command_line_arrive_byte_for_byte(server, runtime, upload):
    words = [word for word in EXACT if len(word) < 1000]
    done = server.trainyard("jobs", "submit", "training", "exact_too", "--packages", upload(server, "tutorials"), "--module-name",
                            "tutorials.exact_arguments", "--job-dir", "gs://out/exact_too", "--region", "us-central1",
                            "--runtime-version", runtime(TENSORFLOW), "--", *words)
    assert done.returncode == 0, done.stderr
    job = server.wait("exact_too")
    assert job["state"] == "SUCCEEDED" and job["trainingInput"]["args"] == words, job
    arrived = json.loads((server.data / "buckets/out/exact_too/arguments.json").read_text())
    assert [bytes.fromhex(word).decode() for word in arrived][:-2] == words


STRICT = ["--layers", "64", "32", "--dropout=1e-1", "--no-augment", "--optimizer", "adam", "gs://data/train file.csv"]


def test_a_strict_parser_gets_what_it_insists_on(server, submit, run):
    (server.data / "buckets/out/strict").mkdir(parents=True)
    folder = run("strict_parser", "strict", STRICT)
    assert dict(eval((folder / "args.txt").read_text())) == {
        "job_dir": "gs://out/strict", "layers": [64, 32], "dropout": 0.1, "optimizer": "adam", "augment": False,
        "train_file": "gs://data/train file.csv"}
    for job_id, args, job_dir, words in [("strict_bare", STRICT, None, "the following arguments are required: --job-dir"),
                                         ("strict_more", [*STRICT, "--verbosity=INFO"], "gs://out/more", "unrecognized arguments: --verbosity=INFO")]:
        job = submit("strict_parser", job_id, args, jobDir=job_dir)
        assert job["state"] == "FAILED" and "Diagnosis: bad_arguments. " in job["errorMessage"] and words in job["errorMessage"], job


def test_a_parameter_server_that_never_ends(server, run):
    mark = "never-ending-helper-61803"
    folder = run("endless_ps", "endless", [mark], scaleTier="CUSTOM", masterType="n1-standard-4", parameterServerType="n1-standard-4",
                 parameterServerCount="1")
    assert (folder / "value.txt").read_text() == "6"
    assert not processes_with(mark), "the parameter server or its child outlived the job"
    assert not [text for text in server.texts("endless", "service") if "is restarted (" in text]


def test_a_caught_failure_is_a_success(server, run):
    folder = run("caught_failure", "caught")
    assert (folder / "partial.txt").read_text() == "phase 1"
    shown = [text for text in server.texts("caught", "master-replica-0") if "MemoryError: out of memory in the second phase" in text]
    assert shown, "what it said about its failure is in the log"
    assert not [text for text in server.texts("caught", "service") if "Diagnosis" in text or "is restarted (" in text]


def test_cloud_storage_client(server, run):
    folder = run("storage_client", "client")
    assert json.loads((folder / "result.json").read_text()) == {
        "uploaded": 30, "taken": True, "total": 332833500, "metadata": {"epoch": "7"}, "size": 5 << 20, "flat": 15,
        "folders": ["client/shards/deep/"], "joined": "shard 0shard 2shard 4"}
    assert (folder / "large.bin").stat().st_size == 5 << 20 and len(list(folder.glob("shards/**/*.txt"))) == 30
    assert (folder / "unlocked").read_text() == "mine" and not (folder / "lock").exists()


def test_processes_of_its_own(server, run):
    folder = run("processes", "processes", ["27182.8"])
    assert json.loads((folder / "result.json").read_text()) == {
        "forked": 328350, "spawned": 285, "seen": ["processes", 0], "shared": "00010203", "statuses": [0] * 4}
    assert not processes_with("27182.8"), "what it left behind outlived the job"


def test_pytorch_with_loading_processes(run):
    folder = run("torch_loader", "spirals", runtimeVersion="pytorch")
    losses = [float(word) for word in (folder / "losses.txt").read_text().split()]
    assert len(losses) == 8 and min(losses) < losses[0] * 0.8 and (folder / "best.pt").stat().st_size > 4000
