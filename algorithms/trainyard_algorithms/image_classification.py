"""Image classification: ResNet and EfficientNet on TFRecord files; stands for
gcr.io/cloud-ml-algos/image_classification."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import tensorflow as tf

from .failure import UserError, run
from .images import backbones, classify_data, loop, pretrained, records, schedule
from .images.decode import Decoder, picture
from .images.serving import Served
from .paths import JobFolder, files

log = logging.getLogger(__name__)


class Classifier:
    """The network, its steps, its evaluation and its serving function. Classes count from 0 inside."""

    def __init__(self, args: SimpleNamespace, size: int, texts: list[str], offset: int) -> None:
        self.args, self.size, self.texts, self.offset = args, size, texts, offset
        self.backbone = backbones.backbone(args.model_type, size, size)
        self.head = tf.keras.layers.Dense(args.num_classes, name="predictions")
        layers = tf.keras.layers
        images = layers.Input((size, size, 3))
        features = layers.GlobalAveragePooling2D(name="avg_pool")(self.backbone(images))
        dropped = layers.Dropout(backbones.default_dropout(args.model_type), name="top_dropout")(features)
        self.model = tf.keras.Model(images, self.head(dropped))
        backbones.set_batch_norm_momentum(self.model, schedule.batch_norm_momentum(args.max_steps))
        self.optimizer = schedule.optimizer(args.optimizer_type, args.optimizer_arguments)
        self.optimizer.build(self.model.trainable_variables)
        self.step = tf.function(self._step, reduce_retracing=True)
        self._predict = tf.function(self._logits)
        self.validation: Callable[[], Iterable[Any]] = tuple

    def parts(self) -> Mapping[str, Any]:
        return {"backbone": self.backbone, "head": self.head}

    def _step(self, batch: Any) -> Mapping[str, Any]:
        """Softmax cross-entropy with smoothed labels, and weight_decay times half the kernels' squares."""
        images, classes = batch
        count, smooth = self.args.num_classes, self.args.label_smoothing
        wanted = tf.one_hot(classes, count, 1.0 - smooth + smooth / count, smooth / count)
        variables = self.model.trainable_variables
        with tf.GradientTape() as tape:
            logits = self.model(backbones.prepared(images, self.args.model_type), training=True)
            entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(wanted, logits))
            loss = entropy
            if self.args.weight_decay:
                loss += self.args.weight_decay * backbones.penalty(variables)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1, tf.int32), classes), tf.float32))
        return {"loss": loss, "cross_entropy": entropy, "accuracy": right}

    def _logits(self, images: Any) -> Any:
        return self.model(backbones.prepared(images, self.args.model_type), training=False)

    def evaluate(self) -> Mapping[str, float]:
        """Metrics over the validation pictures; UserError if none of them decodes."""
        logits, classes = [], []
        for images, wanted in self.validation():
            logits.append(self._predict(images).numpy())
            classes.append(wanted.numpy())
        if not logits:
            raise UserError("--validation_data_path: no picture decodes, so that nothing can be evaluated.")
        return metrics(np.concatenate(logits), np.concatenate(classes))

    def serving(self) -> tuple[Any, Any]:
        """serving_default: `image_bytes` and `key` to `probabilities`, `classes` (labels as in the data),
        `labels` (their texts) and `key`."""
        tables = {"texts": tf.constant(self.texts)}

        def function(image_bytes: Any, key: Any) -> Mapping[str, Any]:
            def one(encoded: Any) -> Any:
                return classify_data.whole(picture(encoded), self.size)

            spec = tf.TensorSpec([self.size, self.size, 3], tf.float32)
            probabilities = tf.nn.softmax(self._logits(tf.map_fn(one, image_bytes, fn_output_signature=spec)))
            best = tf.argmax(probabilities, 1)
            return {
                "probabilities": probabilities,
                "classes": best + self.offset,
                "labels": tf.gather(tables["texts"], best),
                "key": tf.identity(key),
            }

        module = Served(self.model.variables, tables, function)
        return module, module.function


def metrics(logits: Any, classes: Any) -> dict[str, float]:
    """Cross-entropy, top-1 accuracy under its two names and, of more than five classes, top-5 accuracy.

    A class counts as among the best k if fewer than k others have a higher logit. Pure.
    """
    wanted = logits[np.arange(len(classes)), classes]
    peak = logits.max(axis=1)
    loss = np.log(np.exp(logits - peak[:, None]).sum(axis=1)) + peak - wanted
    above = (logits > wanted[:, None]).sum(axis=1)
    top = float(np.mean(logits.argmax(axis=1) == classes))
    result = {"loss": float(loss.mean()), "accuracy": top, "top_1_accuracy": top}
    if logits.shape[1] > 5:
        result["top_5_accuracy"] = float(np.mean(above < 5))
    return result


def course(args: SimpleNamespace, size: int, offset: int, images: int) -> loop.Course:
    """How training goes, by the arguments."""
    # 0.1 for 256 pictures, as He et al. (2015) trained ImageNet.
    initial = schedule.initial_rate(args, 0.1 / 256)
    plan = schedule.planned(args, initial, images, schedule.CLASSIFICATION_STEPS)
    identity = {
        "model_type": args.model_type,
        "num_classes": args.num_classes,
        "image_size": size,
        "the first label": offset,
        "optimizer_type": args.optimizer_type,
    }
    return loop.Course(
        schedule=plan,
        steps_per_eval=args.train_steps_per_eval,
        batch=args.train_batch_size,
        best="top_1_accuracy",
        identity=identity,
        arguments=vars(args),
        percent="accuracy",
    )


def read(args: SimpleNamespace) -> tuple[records.Found, records.Found]:
    """Both data sets, checked. Raises UserError for data that cannot be trained on."""
    found = []
    for argument in ("training_data_path", "validation_data_path"):
        part = records.scan(
            argument, files(getattr(args, argument)), records.CLASSIFICATION, records.check_class
        )
        log.info(
            "--%s: %d pictures in %d file(s), %.1f MB.",
            argument,
            part.images,
            len(part.files),
            part.bytes / 1e6,
        )
        found.append(part)
    records.enough(args.num_eval_images, found[1])
    return found[0], found[1]


def main(args: SimpleNamespace) -> None:
    """Trains and saves by the table's arguments (tables/image_classification.json)."""
    tf.keras.utils.set_random_seed(args.seed)
    log.info("GPUs that TensorFlow sees: %d.", len(tf.config.list_physical_devices("GPU")))
    schedule.optimizer_arguments(args.optimizer_type, args.optimizer_arguments)
    folder = JobFolder(args.job_dir)
    training, validation = read(args)
    offset = records.label_offset((training, validation), args.num_classes, "image/class/label")
    texts = records.class_texts((training, validation), args.num_classes, offset)
    size = args.image_size or backbones.default_size(args.model_type)
    log.info("%s on pictures of %d x %d pixels; labels count from %d.", args.model_type, size, size, offset)
    task = Classifier(args, size, texts, offset)
    pretrained.load(args.pretrained_checkpoint_path, task.backbone, {"head": task.head})
    seen, judged = Decoder(training), Decoder(validation)
    images, batch = args.num_eval_images or validation.images, args.train_batch_size
    shown = classify_data.evaluation(validation, judged, size, offset, batch, images)
    task.validation = lambda: loop.hurried(judged.guarded(shown))

    def batches(start: int) -> Iterator[Any]:
        # A training that goes on must not see the pictures in the order of its beginning again.
        return seen.guarded(classify_data.training(training, seen, size, offset, batch, args.seed + start))

    loop.fit(task, course(args, size, offset, training.images), folder, batches)


if __name__ == "__main__":
    run("image_classification", main)
