"""Weights from a bucket: `--pretrained_checkpoint_path`."""

import logging
from pathlib import Path
from typing import Any

import tensorflow as tf

from ..failure import UserError
from ..paths import files

log = logging.getLogger(__name__)

NAME = "--pretrained_checkpoint_path"
DAMAGED = (tf.errors.OpError, IndexError)  # what TensorFlow raises for a checkpoint that is cut off


def load(path: str | None, backbone: Any, parts: dict[str, Any]) -> None:
    """Fills `backbone` from a file of weights of Keras, or the backbone and those of `parts` whose shapes fit
    from a checkpoint of these trainers. Without a path the log says that training starts from random weights.

    Raises UserError if nothing is at `path` or it does not fit.
    """
    if not path:
        log.info(
            "Training starts from random weights: none are downloaded. %s=gs://BUCKET/... takes them from a "
            "bucket: a checkpoint of this trainer, or Keras' file of weights for this network.",
            NAME,
        )
        return
    if path.endswith((".h5", ".hdf5", ".keras")):
        keras(path, files(path)[0], backbone)
        return
    prefix = checkpoint(path)
    taken = {"backbone": backbone}
    try:
        known = tf.train.load_checkpoint(prefix).get_variable_to_shape_map()
        taken |= {name: part for name, part in parts.items() if fits(known, name, part)}
        tf.train.Checkpoint(**taken).read(prefix).assert_existing_objects_matched().expect_partial()
    except (ValueError, AssertionError) as error:
        raise UserError(
            f"{NAME}={path} is of another network than this job's: {str(error).splitlines()[0]} "
            "It must be a checkpoint of the same model_type or resnet_depth."
        ) from None
    except DAMAGED as error:
        raise UserError(
            f"{NAME}={path} is damaged: {str(error).splitlines()[0][:200]}. Copy or write it again."
        ) from None
    log.info("Weights of %s were taken from %s.", " and ".join(sorted(taken)), path)


def checkpoint(path: str) -> str:
    """The prefix of the checkpoint at `path`: a prefix (.../ckpt-100), or a folder, whose newest one is
    taken."""
    found: list[Path] = []
    for pattern in (f"{path}.*", f"{path.rstrip('/')}/*"):
        try:
            found = files(pattern)
        except UserError:
            continue
        indexes = [file for file in found if file.suffix == ".index"]
        if indexes:
            newest = max(indexes, key=lambda file: (number(file), file.name))
            return str(newest)[: -len(".index")]
    raise UserError(
        f"{NAME}={path}: no checkpoint is there. Give its prefix as in gs://BUCKET/JOB/checkpoints/ckpt-100, "
        "the folder that holds it, or a .h5 or .keras file."
    )


def number(index: Path) -> int:
    digits = index.name[: -len(".index")].rpartition("-")[2]
    return int(digits) if digits.isdigit() else -1


def fits(known: dict[str, Any], name: str, part: Any) -> bool:
    """Whether the checkpoint holds variables of the part `name`, of the shapes that it has."""
    ending = "/.ATTRIBUTES/VARIABLE_VALUE"
    prefix = f"{name}/"
    theirs = sorted(
        str(list(shape))
        for key, shape in known.items()
        if key.startswith(prefix) and key.endswith(ending) and "OPTIMIZER_SLOT" not in key
    )
    return theirs == sorted(str(list(variable.shape)) for variable in part.variables)


def keras(path: str, file: Path, backbone: Any) -> None:
    """Weights by the names of layers; those of the last, dense layer are not in a backbone."""
    wanted = {layer.name: layer for layer in backbone.layers if layer.weights}
    try:
        taken = by_name(file, wanted)
    except UserError:
        raise
    except Exception as error:  # h5py and Keras raise many kinds for a file that is not theirs
        raise UserError(
            f"{NAME}={path} does not load as Keras' weights: {str(error).splitlines()[0]}"
        ) from None
    if len(taken) < len(wanted):
        missing = sorted(set(wanted) - taken)[:3]
        raise UserError(
            f"{NAME}={path} has weights for {len(taken)} of this network's {len(wanted)} layers; the first "
            f"without: {', '.join(missing)}. It must be of the same model_type or resnet_depth."
        )
    log.info("The backbone's weights (%d layers) were taken from %s.", len(taken), path)


def by_name(file: Path, wanted: dict[str, Any]) -> set[str]:
    """Gives each layer the weights that `file` has under its name; the names of those that got theirs."""
    import h5py

    if file.suffix == ".keras":
        model = tf.keras.models.load_model(file, compile=False, safe_mode=True)
        source = {layer.name: layer.get_weights() for layer in model._flatten_layers()}
    else:
        with h5py.File(file, "r") as stream:
            group = stream.get("model_weights", stream)
            if "layer_names" not in group.attrs:
                raise UserError(f"{NAME}: {file.name} is not a file of weights in Keras' HDF5 format (.h5).")
            source = {name: values(group[name]) for name in group}
    taken = set()
    for name, layer in wanted.items():
        weights = source.get(name)
        if weights and [w.shape for w in weights] == [tuple(w.shape) for w in layer.weights]:
            layer.set_weights(weights)
            taken.add(name)
        elif layer.__class__.__name__ == "Normalization":
            taken.add(name)  # without its statistics it changes nothing
    return taken


def values(group: Any) -> list[Any]:
    """The weights of one layer in Keras' order."""
    return [group[name][()] for name in group.attrs["weight_names"]]
