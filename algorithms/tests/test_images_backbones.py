"""The networks have keras.applications' layers, so that weights for it fit."""

import logging
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
tf = pytest.importorskip("tensorflow")

from trainyard_algorithms.failure import UserError  # noqa: E402
from trainyard_algorithms.images import backbones, pretrained  # noqa: E402


def shapes(model: Any) -> dict[str, list[tuple[int, ...]]]:
    return {layer.name: [w.shape for w in layer.get_weights()] for layer in model.layers if layer.weights}


@pytest.fixture(scope="module")
def theirs() -> Any:
    tf.keras.utils.set_random_seed(1)
    return tf.keras.applications.ResNet50(weights=None, input_shape=(64, 64, 3), classes=7)


def test_resnet_50_is_that_of_keras_and_takes_its_weights(
    theirs: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ours = backbones.backbone("resnet-50", 64, 64)
    assert shapes(ours) == {name: value for name, value in shapes(theirs).items() if name != "predictions"}

    theirs.save_weights(tmp_path / "resnet.h5")
    caplog.set_level(logging.INFO)
    pretrained.load(str(tmp_path / "resnet.h5"), ours, {})
    assert "The backbone's weights (106 layers) were taken" in caplog.text
    last = tf.keras.Model(theirs.input, theirs.get_layer("conv5_block3_out").output)
    images = np.random.default_rng(1).uniform(-100, 100, [2, 64, 64, 3]).astype(np.float32)
    assert np.allclose(ours(images), last(images), atol=1e-3)

    with pytest.raises(UserError, match="has weights for .* of this network's"):
        pretrained.load(str(tmp_path / "resnet.h5"), backbones.backbone("resnet-34", 64, 64), {})


def test_preparation_is_that_of_keras() -> None:
    images = np.random.default_rng(2).uniform(0, 255, [2, 8, 8, 3]).astype(np.float32)
    wanted = tf.keras.applications.resnet.preprocess_input(images.copy())
    assert np.allclose(backbones.prepared(images, "resnet-18"), wanted, atol=1e-4)
    assert np.array_equal(backbones.prepared(images, "efficientnet-b0"), images)


def test_efficientnet_takes_a_keras_file(tmp_path: Path) -> None:
    theirs = tf.keras.applications.EfficientNetB0(include_top=False, weights=None, input_shape=(32, 32, 3))
    theirs.save(tmp_path / "b0.keras")
    ours = backbones.backbone("efficientnet-b0", 32, 32)
    pretrained.load(str(tmp_path / "b0.keras"), ours, {})
    name = "block3a_expand_conv"
    assert np.array_equal(ours.get_layer(name).get_weights()[0], theirs.get_layer(name).get_weights()[0])
    assert {layer.momentum for layer in ours.layers if "bn" in layer.name} == {0.99}
    backbones.set_batch_norm_momentum(ours, 0.8)
    assert {layer.momentum for layer in ours.layers if "bn" in layer.name} == {0.8}


def test_a_wrong_path_is_named(tmp_path: Path) -> None:
    model = backbones.resnet(18, 32, 32, count=1)
    with pytest.raises(UserError, match="no checkpoint is there"):
        pretrained.load(f"{tmp_path}/ckpt-1", model, {})
    (tmp_path / "w.h5").write_bytes(b"nothing")
    with pytest.raises(UserError, match="does not load as Keras' weights"):
        pretrained.load(f"{tmp_path}/w.h5", model, {})


def test_a_classifiers_checkpoint_starts_a_detector_with_fewer_stages(tmp_path: Path) -> None:
    whole, part = backbones.resnet(18, 32, 32), backbones.resnet(18, 32, 64, count=3)
    prefix = tf.train.Checkpoint(backbone=whole, head=tf.Variable([1.0])).write(str(tmp_path / "ckpt-5"))
    pretrained.load(prefix, part, {})
    for ours, theirs in zip(part.weights, whole.weights, strict=False):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("depth", backbones.RESNETS)
def test_every_resnet_has_the_convolutions_in_its_name(depth: int) -> None:
    blocks, bottleneck = backbones.RESNETS[depth]
    assert 2 + sum(blocks) * (3 if bottleneck else 2) == depth
    assert backbones.default_size(f"resnet-{depth}") == 224


def test_penalty_is_of_kernels_only() -> None:
    kernel, bias = tf.Variable([3.0, 4.0], name="conv/kernel"), tf.Variable([9.0], name="conv/bias")
    assert float(backbones.penalty([kernel, bias])) == 12.5
