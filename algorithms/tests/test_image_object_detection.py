"""image_object_detection trains, resumes, saves and says what is wrong with the data."""

import logging
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
tf = pytest.importorskip("tensorflow")

from trainyard_algorithms import arguments, image_object_detection  # noqa: E402
from trainyard_algorithms.failure import UserError  # noqa: E402
from trainyard_algorithms.images import backbones, coco  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "algorithms"))
import make_shapes  # noqa: E402

SMALL = (
    "--resnet_depth=18",
    "--image_size=64,64",
    "--fpn_max_level=4",
    "--fpn_feature_dims=64",
    "--head_num_convs=1",
    "--anchor_size=2",
    "--train_batch_size=8",
    "--optimizer_type=adam",
)
SIDES = ("ymin", "xmin", "ymax", "xmax")


def train(data: Path, job: Path, *more: str) -> None:
    paths = (f"--training_data_path={data}/train-*", f"--validation_data_path={data}/validation-*")
    argv = (f"--job-dir={job}", *paths, "--num_classes=3", *SMALL, *more)
    image_object_detection.main(arguments.parse("image_object_detection", argv))


def config(job: Path) -> dict[str, str]:
    """The labels of deployment_config.yaml."""
    lines = (job / "model" / "deployment_config.yaml").read_text().splitlines()
    labels = (line.replace('"', "").split(":") for line in lines if line.startswith("  "))
    return {name.strip(): value.strip() for name, value in labels}


def serve(job: Path, pictures: list[bytes]) -> dict[str, Any]:
    """What serving_default of the saved model answers."""
    function = tf.saved_model.load(str(job / "model")).signatures["serving_default"]
    keys = tf.constant([f"picture {index}" for index in range(len(pictures))])
    return {
        name: value.numpy() for name, value in function(image_bytes=tf.constant(pictures), key=keys).items()
    }


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """resnet-18 with a block a stage, where learning is not what is tested."""
    monkeypatch.setitem(backbones.RESNETS, 18, ((1, 1, 1, 1), False))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    make_shapes.write(folder / "train-0", make_shapes.detection(160, 64, seed=1))
    make_shapes.write(folder / "validation-0", make_shapes.detection(30, 64, seed=2))
    return folder


@pytest.fixture(scope="module")
def job(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    train(data, folder, "--max_steps=70", "--aug_rand_hflip=true")
    return folder


def features(data: Path) -> list[Any]:
    lines = tf.data.TFRecordDataset(str(data / "validation-0")).as_numpy_iterator()
    return [tf.train.Example.FromString(line).features.feature for line in lines]


def test_learns_and_writes_where_the_original_did(job: Path) -> None:
    assert float(config(job)["AP50"]) > 0.6
    assert float(config(job)["accuracy"]) == pytest.approx(100 * float(config(job)["AP50"]), abs=1e-2)
    assert (job / "model" / "saved_model.pb").exists()
    assert tf.train.latest_checkpoint(str(job / "checkpoints")) == str(job / "checkpoints" / "ckpt-70")


def test_saved_model_alone_gives_the_predictions_that_were_evaluated(job: Path, data: Path) -> None:
    rows = features(data)
    answer = serve(job, [row["image/encoded"].bytes_list.value[0] for row in rows])
    assert answer["detection_boxes"].shape == (30, 50, 4)
    assert answer["key"][29] == b"picture 29"
    pictures = []
    for index, row in enumerate(rows):
        boxes = np.array([row[f"image/object/bbox/{side}"].float_list.value for side in SIDES], float).T
        labels = np.array(row["image/object/class/label"].int64_list.value)
        count = answer["num_detections"][index]
        found = (answer[f"detection_{name}"][index, :count] for name in ("boxes", "classes", "scores"))
        pictures.append(coco.Picture(boxes, labels, labels < 0, *found))
        assert not answer["detection_classes"][index, count:].any()
    assert coco.metrics(pictures)["AP"] == pytest.approx(float(config(job)["AP"]), abs=1e-3)
    best = answer["detection_classes"][0, 0]
    assert answer["detection_texts"][0, 0].decode() == make_shapes.CLASSES[best - 1]


def test_saved_model_takes_pictures_of_every_kind_and_size(job: Path, data: Path) -> None:
    image = np.full([90, 150, 3], 190, np.uint8)
    make_shapes.draw(image, 1, (30.0, 75.0, 75.0, 120.0), np.random.default_rng(1))
    others = [
        np.full([30, 50, 1], 90, np.uint8),
        np.full([20, 10, 4], 200, np.uint8),
        np.zeros([1, 1, 3], np.uint8),
    ]
    answer = serve(job, [tf.io.encode_png(each).numpy() for each in (image, *others)])
    assert answer["num_detections"].shape == (4,)
    # Shares of the picture itself, not of the padded square: 30 / 90, 75 / 150, ...
    assert answer["detection_boxes"][0, 0] == pytest.approx(np.array([1 / 3, 0.5, 5 / 6, 0.8]), abs=0.12)


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
    change = [
        "--aug_scale_min=0.8",
        "--aug_scale_max=1.3",
        "--auto_augmentation=true",
        "--aug_rand_hflip=true",
    ]
    for name in ("first", "second"):
        train(data, tmp_path / name, "--max_steps=2", "--num_eval_images=8", *change)
    first, second = weights(tmp_path / "first"), weights(tmp_path / "second")
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)

    caplog.set_level(logging.INFO)
    train(data, tmp_path / "first", "--max_steps=3", "--num_eval_images=8", *change)
    assert "checkpoint of step 2: training goes on from there" in caplog.text
    with pytest.raises(UserError, match="anchor_size=2.0, but this job says anchor_size=3.0"):
        train(data, tmp_path / "first", "--max_steps=4", "--anchor_size=3")


PNG = tf.io.encode_png(np.full([40, 40, 3], 90, np.uint8)).numpy()
Box = tuple[float, float, float, float]


def record(
    boxes: list[Box], labels: list[int], picture: bytes = PNG, crowd: list[int] | None = None
) -> bytes:
    columns = np.array(boxes, float).reshape(-1, 4).T
    fields = {f"image/object/bbox/{side}": make_shapes.floats(*each) for side, each in zip(SIDES, columns)}
    fields |= {
        "image/encoded": make_shapes.texts(picture),
        "image/object/class/label": make_shapes.integers(*labels),
    }
    if crowd is not None:
        fields["image/object/is_crowd"] = make_shapes.integers(*crowd)
    return make_shapes.example(fields)


GOOD: Box = (0.1, 0.1, 0.6, 0.6)
BAD: dict[str, tuple[list[bytes], str]] = {
    "no_boxes": ([record([], [])] * 3, "no picture has a box"),
    "only_crossed": ([record([(0.6, 0.1, 0.1, 0.6)], [1])], "no picture has a box"),
    "lengths": (
        [record([GOOD], [1]), record([GOOD], [1, 2])],
        "train-x, record 2 .* lists of different lengths",
    ),
    "crowd_length": ([record([GOOD], [1], crowd=[0, 1])], "train-x, record 1 .* lists of different lengths"),
    "pixels": (
        [record([GOOD], [1]), record([(10, 20, 30, 40)], [1])],
        r"record 2 .* \(10, 20, 30, 40\) is not in shares",
    ),
    "label": (
        [record([GOOD], [1]), record([GOOD, GOOD], [3, 4])],
        "record 2 .* is 4, but --num_classes=3 allows 1 to 3",
    ),
    "no_picture": ([record([GOOD], [1], b"")], "train-x, record 1 has no 'image/encoded'"),
    "all_broken": ([record([GOOD], [1], PNG[:60])], "1 pictures of --training_data_path do not decode"),
    "no_records": ([], "hold no record"),
}


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("name", BAD)
def test_bad_data_is_named(name: str, data: Path, tmp_path: Path) -> None:
    lines, message = BAD[name]
    make_shapes.write(tmp_path / "train-x", iter(lines))
    (tmp_path / "validation-x").symlink_to(data / "validation-0")
    with pytest.raises(UserError, match=message):
        train(tmp_path, tmp_path / "job", "--max_steps=1")


@pytest.mark.usefixtures("tiny")
def test_odd_boxes_are_named_and_the_rest_is_trained_with(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    nan = float("nan")
    lines = [
        record([GOOD, (-0.2, 0.5, 0.5, 1.3)], [1, 2]),
        record([(0.8, 0.1, 0.2, 0.6)], [1]),
        record([(nan, 0.1, 0.2, 0.6)], [2]),
        record([], []),
        record([GOOD, GOOD], [1, 2], crowd=[0, 1]),
        record([GOOD], [1], PNG[:60]),
    ]
    for part in ("train-x", "validation-x"):
        make_shapes.write(tmp_path / part, iter(lines))
    train(
        tmp_path, tmp_path / "job", "--max_steps=2", "--max_num_bboxes_in_training=1", "--train_batch_size=2"
    )
    for text in (
        "train-x, record 1 of --training_data_path: the box (-0.2, 0.5, 0.5, 1.3) reaches over the picture's",
        "train-x, record 2 of --training_data_path: the box (0.8, 0.1, 0.2, 0.6) is empty or crossed",
        "train-x, record 3 of --training_data_path: the box (nan, 0.1, 0.2, 0.6) is empty or crossed",
        "train-x, record 6 of --training_data_path: the picture does not decode",
        "above --max_num_bboxes_in_training=1: the rest are not trained with",
    ):
        assert text in caplog.text
    assert np.isfinite(float(config(tmp_path / "job")["loss"]))


ARGUMENTS = {
    "one_size": (["--image_size=64"], "--image_size is HEIGHT,WIDTH"),
    "levels": (["--fpn_min_level=5"], "--fpn_min_level=5 is above --fpn_max_level=4"),
    "nasfpn": (["--fpn_type=nasfpn"], "--fpn_type=nasfpn is made for the levels 3 to 7, not 3 to 4"),
    "ratios": (["--bbox_aspect_ratios=1.0,0"], "--bbox_aspect_ratios are numbers from 0.05"),
    "scales": (["--aug_scale_min=1.2"], "--aug_scale_min=1.2 is above --aug_scale_max=1.0"),
    "optimizer": (["--optimizer_arguments=rho=0.9"], "'rho=0.9' is not NAME=VALUE"),
    "images": (["--num_eval_images=31"], "--num_eval_images=31 is more than the 30 pictures"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_that_do_not_fit_are_named(name: str, data: Path, tmp_path: Path) -> None:
    more, message = ARGUMENTS[name]
    with pytest.raises(UserError, match=message):
        train(data, tmp_path / "job", "--max_steps=1", *more)


def test_requests_that_users_made_are_understood() -> None:
    """The values that the original's web form and a guide's command gave (found in public repositories)."""
    given = """training_data_path=gs://b/t* validation_data_path=gs://b/v* num_classes=2 max_steps=2
        warmup_learning_rate=0.0001 initial_learning_rate=0.0001 learning_rate_decay_type=cosine
        optimizer_type=momentum optimizer_arguments=momentum=0.9 fpn_type=fpn resnet_depth=50
        max_num_bboxes_in_training=50 max_num_bboxes_in_prediction=50 anchor_size=4 fpn_min_level=3
        fpn_max_level=7 nms_iou_threshold=0.5 nms_score_threshold=0.05 focal_loss_alpha=0.25
        detection_loss_weight=50 auto_augmentation=false aug_rand_hflip=false aug_scale_min=1
        aug_scale_max=1"""
    form = [f"--{each}" for each in given.split()]
    args = arguments.parse(
        "image_object_detection",
        [*form, "--image_size=640,640", "--bbox_aspect_ratios=1.0,2.0,0.5", "--job-dir=x"],
    )
    assert image_object_detection.checked(args) == image_object_detection.Frame(640, 640, 128)
    guide = [
        "--image_size=960,1280",
        "--fpn_type=nasfpn",
        "--aug_scale_min=0.8",
        "--aug_scale_max=1.2",
        "--warmup_steps=500",
    ]
    args = arguments.parse("image_object_detection", [*form[:4], *guide, "--job-dir=x"])
    assert image_object_detection.checked(args) == image_object_detection.Frame(960, 1280, 128)
    assert args.bbox_aspect_ratios == [1.0, 2.0, 0.5]
