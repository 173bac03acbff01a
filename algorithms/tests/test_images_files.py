"""Files that are damaged, or look like something else."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
tf = pytest.importorskip("tensorflow")

from trainyard_algorithms import arguments  # noqa: E402
from trainyard_algorithms.failure import UserError  # noqa: E402
from trainyard_algorithms.images import pretrained, records  # noqa: E402


@pytest.mark.parametrize("length", [0x8B1F, 0x088B1F])
def test_a_record_whose_length_begins_as_gzip_does_is_read(length: int, tmp_path: Path) -> None:
    for kind in ("", "GZIP"):
        file = tmp_path / f"part{kind}"
        with tf.io.TFRecordWriter(str(file), kind) as stream:
            stream.write(b"x" * length)
        assert records.compression(file) == kind
        assert [int(batch.shape[0]) for _, batch in records.batches(file)] == [1]


@pytest.mark.parametrize("part", ["index", "data-00000-of-00001"])
def test_a_damaged_checkpoint_to_start_from_is_named(part: str, tmp_path: Path) -> None:
    dense = tf.keras.layers.Dense(3)
    dense.build([None, 2])
    tf.train.Checkpoint(backbone=dense).write(str(tmp_path / "ckpt-5"))
    damaged = tmp_path / f"ckpt-5.{part}"
    damaged.write_bytes(damaged.read_bytes()[:-6])
    with pytest.raises(UserError, match=f"--pretrained_checkpoint_path={tmp_path} "):
        pretrained.load(str(tmp_path), dense, {})


@pytest.mark.parametrize("name", ["image_classification", "image_object_detection"])
def test_a_seed_that_is_too_large_is_refused(name: str) -> None:
    argv = ("--job-dir=a", "--training_data_path=b", "--validation_data_path=c", "--num_classes=2")
    with pytest.raises(UserError, match="--seed"):
        arguments.parse(name, (*argv, "--max_steps=1", "--seed=5000000000"))
