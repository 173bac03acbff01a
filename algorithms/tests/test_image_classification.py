"""image_classification trains, resumes, saves and says what is wrong with the data."""

import json
import logging
import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
tf = pytest.importorskip("tensorflow")

from trainyard_algorithms import arguments, image_classification  # noqa: E402
from trainyard_algorithms.failure import UserError  # noqa: E402
from trainyard_algorithms.images import backbones  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "algorithms"))
import make_shapes  # noqa: E402

SMALL = ("--model_type=resnet-18", "--image_size=32", "--train_batch_size=16")


def train(data: Path, job: Path, *more: str, classes: int = 3) -> None:
    paths = (f"--training_data_path={data}/train-*", f"--validation_data_path={data}/validation-*")
    argv = (f"--job-dir={job}", *paths, f"--num_classes={classes}", *SMALL, *more)
    image_classification.main(arguments.parse("image_classification", argv))


def config(job: Path) -> dict[str, str]:
    """The labels of deployment_config.yaml."""
    lines = (job / "model" / "deployment_config.yaml").read_text().splitlines()
    labels = (line.replace('"', "").split(":") for line in lines if line.startswith("  "))
    return {name.strip(): value.strip() for name, value in labels}


def serve(job: Path, pictures: list[bytes]) -> dict[str, Any]:
    """What serving_default of the saved model answers."""
    function = tf.saved_model.load(str(job / "model")).signatures["serving_default"]
    answer = function(
        image_bytes=tf.constant(pictures), key=tf.constant([str(i) for i in range(len(pictures))])
    )
    return {name: value.numpy() for name, value in answer.items()}


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """resnet-18 with two blocks, where learning is not what is tested."""
    monkeypatch.setitem(backbones.RESNETS, 18, ((1, 1), False))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    make_shapes.write(folder / "train-0", make_shapes.classification(90, 40, seed=1))
    make_shapes.write(folder / "train-1", make_shapes.classification(90, 64, seed=2))
    make_shapes.write(folder / "validation-0", make_shapes.classification(45, 48, seed=3))
    return folder


@pytest.fixture(scope="module")
def job(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    train(data, folder, "--max_steps=40", "--train_steps_per_eval=20", "--optimizer_type=adam")
    return folder


def validation(data: Path) -> list[Any]:
    lines = tf.data.TFRecordDataset(str(data / "validation-0")).as_numpy_iterator()
    return [tf.train.Example.FromString(line).features.feature for line in lines]


def test_learns_and_writes_where_the_original_did(job: Path) -> None:
    assert float(config(job)["accuracy"]) > 80  # a third by chance
    assert (job / "model" / "saved_model.pb").exists()
    assert tf.train.latest_checkpoint(str(job / "checkpoints")) == str(job / "checkpoints" / "ckpt-40")
    assert list((job / "experiment" / "validation").glob("events.out.tfevents.*"))
    assert json.loads((job / "checkpoints" / "settings.json").read_text())["model_type"] == "resnet-18"


def test_saved_model_alone_gives_the_predictions_that_were_evaluated(job: Path, data: Path) -> None:
    rows = validation(data)
    labels = np.array([row["image/class/label"].int64_list.value[0] for row in rows])
    answer = serve(job, [row["image/encoded"].bytes_list.value[0] for row in rows])
    right = np.mean(answer["classes"] == labels)
    assert 100 * right == pytest.approx(float(config(job)["accuracy"]), abs=1e-3)
    loss = -np.log(answer["probabilities"][np.arange(len(rows)), labels - 1]).mean()
    assert loss == pytest.approx(float(config(job)["loss"]), rel=1e-4)
    assert answer["key"].tolist() == [str(i).encode() for i in range(len(rows))]
    assert answer["labels"][0].decode() == make_shapes.CLASSES[answer["classes"][0] - 1]


def test_saved_model_takes_pictures_of_every_kind(job: Path) -> None:
    grey = tf.io.encode_jpeg(np.full([30, 50, 1], 90, np.uint8)).numpy()
    clear = tf.io.encode_png(np.full([20, 10, 4], 200, np.uint8)).numpy()
    deep = tf.io.encode_png(np.full([8, 9, 1], 40000, np.uint16)).numpy()
    tiny = tf.io.encode_png(np.zeros([1, 1, 3], np.uint8)).numpy()
    answer = serve(job, [grey, clear, deep, tiny])
    assert answer["probabilities"].shape == (4, 3)
    assert answer["probabilities"].sum(axis=1) == pytest.approx(np.ones(4), abs=1e-5)


def weights(job: Path) -> dict[str, Any]:
    reader = tf.train.load_checkpoint(str(job / "checkpoints"))
    return {
        name: reader.get_tensor(name)
        for name in reader.get_variable_to_shape_map()
        if "VARIABLE_VALUE" in name
    }


@pytest.mark.usefixtures("tiny")
def test_one_seed_gives_one_model_and_a_job_dir_with_a_checkpoint_goes_on(
    data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("first", "second"):
        train(data, tmp_path / name, "--max_steps=3", "--seed=7", "--num_eval_images=10")
    first, second = weights(tmp_path / "first"), weights(tmp_path / "second")
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)

    caplog.set_level(logging.INFO)
    train(data, tmp_path / "first", "--max_steps=4")
    assert "checkpoint of step 3: training goes on from there" in caplog.text
    assert tf.train.latest_checkpoint(str(tmp_path / "first" / "checkpoints")).endswith("ckpt-4")
    train(data, tmp_path / "first", "--max_steps=4")
    assert "--max_steps=4 is not above the 4 steps" in caplog.text
    with pytest.raises(UserError, match="image_size=32, but this job says image_size=64"):
        train(data, tmp_path / "first", "--max_steps=50", "--image_size=64")
    with pytest.raises(UserError, match="optimizer_type=momentum, but this job says optimizer_type=adam"):
        train(data, tmp_path / "first", "--max_steps=50", "--optimizer_type=adam")


@pytest.mark.usefixtures("tiny")
def test_weights_are_taken_from_a_checkpoint(
    data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    two_blocks, head = backbones.backbone("resnet-18", 32, 32), tf.keras.layers.Dense(3)
    head.build([None, 128])
    tf.train.Checkpoint(backbone=two_blocks, head=head).write(str(tmp_path / "ckpt-5"))
    caplog.set_level(logging.INFO)
    path = f"--pretrained_checkpoint_path={tmp_path}"
    train(data, tmp_path / "job", "--max_steps=1", path, "--initial_learning_rate=1e-9", classes=7)
    assert (
        "Weights of backbone were taken from" in caplog.text
    )  # not of the head, which has seven classes here
    assert "top_5_accuracy" in caplog.text
    name = "backbone/layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE"
    first = two_blocks.get_layer("conv1_conv").get_weights()[0]
    assert np.allclose(weights(tmp_path / "job")[name], first, atol=1e-6)
    with pytest.raises(UserError, match="is of another network"):
        train(data, tmp_path / "wrong", "--max_steps=1", path, "--model_type=resnet-34")


def record(label: int | None, picture: bytes | None) -> bytes:
    features = {}
    if label is not None:
        features["image/class/label"] = make_shapes.integers(label)
    if picture is not None:
        features["image/encoded"] = make_shapes.texts(picture)
    return make_shapes.example(features)


PNG = tf.io.encode_png(np.full([40, 40, 3], 9, np.uint8)).numpy()
BAD: dict[str, tuple[list[bytes], str]] = {
    "no_picture": ([record(1, PNG), record(1, None)], "train-x, record 2 has no 'image/encoded'"),
    "no_label": ([record(1, PNG), record(None, PNG)], "train-x, record 2 .* has no 'image/class/label'"),
    "label_above": (
        [record(1, PNG), record(4, PNG)],
        "train-x, record 2 .* is 4, but --num_classes=3 allows 1 to 3",
    ),
    "label_above_zero": (
        [record(3, PNG), record(0, PNG)],
        "record 1 .* is 3, .* allows 0 to 2 .*label 0 was seen",
    ),
    "label_negative": ([record(-2, PNG)], "record 1 .* is -2, which is no class"),
    "no_example": ([b"\x0a\xff\xff"], "train-x, record 1: not a tf.train.Example"),
    "label_a_text": (
        [
            make_shapes.example(
                {"image/encoded": make_shapes.texts(PNG), "image/class/label": make_shapes.texts(b"a")}
            )
        ],
        "train-x, record 1: not a tf.train.Example with the fields expected",
    ),
    "nothing": ([], "hold no record"),
    "all_broken": (
        [record(1, b"no picture"), record(2, PNG[:60])],
        "2 pictures of --training_data_path do not decode",
    ),
}


@pytest.mark.usefixtures("tiny")
def test_validation_pictures_that_do_not_decode_are_named(data: Path, tmp_path: Path) -> None:
    (tmp_path / "train-x").symlink_to(data / "train-0")
    make_shapes.write(tmp_path / "validation-x", iter([record(1, PNG[:60])]))
    with pytest.raises(UserError, match="1 pictures of --validation_data_path do not decode"):
        train(tmp_path, tmp_path / "job", "--max_steps=1")


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("name", BAD)
def test_bad_data_is_named(name: str, data: Path, tmp_path: Path) -> None:
    lines, message = BAD[name]
    make_shapes.write(tmp_path / "train-x", iter(lines))
    (tmp_path / "validation-x").symlink_to(data / "validation-0")
    with pytest.raises(UserError, match=message):
        train(tmp_path, tmp_path / "job", "--max_steps=1")


def test_files_that_are_no_records_are_named(data: Path, tmp_path: Path) -> None:
    (tmp_path / "validation-x").symlink_to(data / "validation-0")
    with pytest.raises(UserError, match="train-"):
        train(tmp_path, tmp_path / "job", "--max_steps=1")
    (tmp_path / "train-x").write_bytes(PNG)
    with pytest.raises(UserError, match="train-x is not a TFRecord file"):
        train(tmp_path, tmp_path / "job", "--max_steps=1")
    whole = (data / "train-0").read_bytes()
    (tmp_path / "train-x").write_bytes(whole[:-1000])
    with pytest.raises(
        UserError, match="train-x is damaged at record 90 \\(89 records before it are whole\\)"
    ):
        train(tmp_path, tmp_path / "job", "--max_steps=1")
    with pytest.raises(UserError, match="--num_eval_images=46 is more than the 45 pictures"):
        train(data, tmp_path / "job", "--max_steps=1", "--num_eval_images=46")


@pytest.mark.usefixtures("tiny")
def test_a_broken_picture_is_skipped_and_labels_may_begin_at_zero(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = [record(index % 2, PNG) for index in range(20)] + [record(1, PNG[:70])]
    for part in ("train-x", "validation-x"):
        make_shapes.write(tmp_path / part, iter(lines))
    train(tmp_path, tmp_path / "job", "--max_steps=2", classes=2)
    assert "train-x, record 21 of --training_data_path: the picture does not decode" in caplog.text
    answer = serve(tmp_path / "job", [PNG])
    assert set(answer["classes"]) <= {0, 1} and answer["labels"][0] in (b"0", b"1")


@pytest.mark.usefixtures("tiny")
def test_a_loss_that_is_no_number_says_what_to_do(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a number any more at step 8. Lower --initial_learning_rate"):
        train(data, tmp_path / "job", "--max_steps=8", "--initial_learning_rate=1e30")


def test_metrics() -> None:
    logits = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]])
    result = image_classification.metrics(logits, np.array([0, 1]))
    by_hand = [-math.log(math.e**2 / (math.e**2 + math.e + 1)), -math.log(math.e / (1 + math.e + math.e**3))]
    assert result == {"loss": pytest.approx(sum(by_hand) / 2), "accuracy": 0.5, "top_1_accuracy": 0.5}
    six = image_classification.metrics(np.array([[6.0, 5, 4, 3, 2, 1]] * 2), np.array([4, 5]))
    assert six["top_5_accuracy"] == 0.5
