"""Object detection: RetinaNet on TFRecord files; stands for gcr.io/cloud-ml-algos/image_object_detection."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import tensorflow as tf

from .failure import UserError, run
from .images import (
    anchors,
    backbones,
    coco,
    detect_data,
    detect_records,
    loop,
    pretrained,
    records,
    retinanet,
    schedule,
)
from .images.decode import Decoder, picture
from .images.detect_data import Augmentation, Frame
from .images.serving import Served
from .paths import JobFolder, files

log = logging.getLogger(__name__)

CANDIDATES = 5000  # anchors of a picture that go into non-maximum suppression (the Model Garden's number)
CLIP_NORM = 10.0  # of the gradient: against the first steps from random weights


class Detector:
    """The network, its steps, its evaluation and its serving function. Classes count from 0 inside."""

    def __init__(self, args: SimpleNamespace, frame: Frame, texts: list[str], offset: int) -> None:
        self.args, self.frame, self.texts, self.offset = args, frame, texts, offset
        low, high, ratios = args.fpn_min_level, args.fpn_max_level, args.bbox_aspect_ratios
        self.bases = anchors.anchors(frame.rows, frame.columns, low, high, args.anchor_size, ratios)
        shape, per_place = (frame.rows, frame.columns), len(anchors.SCALES) * len(ratios)
        self.backbone, self.detector, self.model = retinanet.network(
            shape, args.resnet_depth, args.num_classes, per_place, vars(args)
        )
        backbones.set_batch_norm_momentum(self.model, schedule.batch_norm_momentum(args.max_steps))
        self.optimizer = schedule.optimizer(args.optimizer_type, args.optimizer_arguments)
        self.optimizer.build(self.model.trainable_variables)
        self.step = tf.function(self._step, reduce_retracing=True)
        self._evaluate = tf.function(self._judged, reduce_retracing=True)
        self.validation: Callable[[], Iterable[Any]] = tuple

    def parts(self) -> Mapping[str, Any]:
        return {"backbone": self.backbone, "detector": self.detector}

    def _answer(self, images: Any, training: bool) -> Any:
        return self.model(backbones.prepared(images, "resnet"), training=training)

    def _losses(self, answer: Any, wanted: Any) -> dict[str, Any]:
        args = self.args
        return retinanet.losses(
            answer, wanted, args.focal_loss_alpha, args.focal_loss_gamma, args.detection_loss_weight
        )

    def _step(self, batch: Any) -> Mapping[str, Any]:
        """RetinaNet's loss, and weight_decay times half the kernels' squares; the gradient's norm is
        bounded."""
        images, wanted = batch
        variables = self.model.trainable_variables
        with tf.GradientTape() as tape:
            result = self._losses(self._answer(images, True), wanted)
            if self.args.weight_decay:
                result["loss"] += self.args.weight_decay * backbones.penalty(variables)
        gradients, _ = tf.clip_by_global_norm(tape.gradient(result["loss"], variables), CLIP_NORM)
        self.optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return result

    def detections(self, answer: Any, extents: Any) -> Any:
        """(boxes in shares of the picture, scores, classes from 0, how many) of the network's answer; padded
        by 0.

        `extents` [n, 2]: each picture's height and width within the frame, in pixels.
        """
        logits, offsets = answer
        scores = tf.sigmoid(logits)
        count = min(CANDIDATES, self.bases.shape[0])
        best = tf.math.top_k(tf.reduce_max(scores, axis=-1), count).indices
        boxes = anchors.decode(tf.gather(offsets, best, batch_dims=1), tf.gather(self.bases, best))
        shares = boxes / tf.tile(extents, [1, 2])[:, None, :]
        return tf.image.combined_non_max_suppression(
            tf.clip_by_value(shares, 0.0, 1.0)[:, :, None, :],
            tf.gather(scores, best, batch_dims=1),
            max_output_size_per_class=self.args.max_num_bboxes_in_prediction,
            max_total_size=self.args.max_num_bboxes_in_prediction,
            iou_threshold=self.args.nms_iou_threshold,
            score_threshold=self.args.nms_score_threshold,
        )

    def _judged(self, images: Any, extents: Any, boxes: Any, classes: Any, crowd: Any) -> Any:
        """Detections of a batch, and its loss."""
        answer = self._answer(images, False)
        pixels = boxes * tf.tile(extents, [1, 2])[:, None, :]
        spec = (tf.TensorSpec(None, tf.int32), tf.TensorSpec(None, tf.float32))
        wanted = tf.map_fn(
            lambda pair: anchors.targets(pair[0], pair[1], tf.constant(self.bases)),
            (pixels, tf.where(crowd, -1, classes)),
            fn_output_signature=spec,
        )
        return self.detections(answer, extents), self._losses(answer, wanted)["loss"]

    def evaluate(self) -> Mapping[str, float]:
        """COCO's metrics and the loss over the validation pictures; UserError if none of them decodes."""
        seen: list[coco.Picture] = []
        losses = 0.0
        for batch in self.validation():
            found, loss = self._evaluate(*batch)
            _, _, boxes, classes, crowd = (each.numpy() for each in batch)
            losses += float(loss) * len(boxes)
            seen += [
                one_picture(truth, found, index) for index, truth in enumerate(zip(boxes, classes, crowd))
            ]
        if not seen:
            raise UserError("--validation_data_path: no picture decodes, so that nothing can be evaluated.")
        result = coco.metrics(seen)
        return {"loss": losses / len(seen), **result, "accuracy": result["AP50"]}

    def serving(self) -> tuple[Any, Any]:
        """serving_default: `image_bytes` and `key` to `detection_boxes` [n, m, 4] (ymin, xmin, ymax, xmax in
        shares of the picture), `detection_scores` [n, m], `detection_classes` [n, m] (labels as in the data;
        0 after the last one), `detection_texts`, `num_detections` [n] and `key`."""
        tables = {"texts": tf.constant(self.texts)}

        def function(image_bytes: Any, key: Any) -> Mapping[str, Any]:
            def one(encoded: Any) -> Any:
                return detect_data.framed(picture(encoded), self.frame)

            shape = [self.frame.rows, self.frame.columns, 3]
            spec = (tf.TensorSpec(shape, tf.float32), tf.TensorSpec([2], tf.float32))
            images, extents = tf.map_fn(one, image_bytes, fn_output_signature=spec)
            found = self.detections(self._answer(images, False), extents)
            classes = tf.cast(found.nmsed_classes, tf.int64)
            real = tf.sequence_mask(found.valid_detections, tf.shape(classes)[1])
            return {
                "detection_boxes": found.nmsed_boxes,
                "detection_scores": found.nmsed_scores,
                "detection_classes": tf.where(real, classes + self.offset, 0),
                "detection_texts": tf.where(real, tf.gather(tables["texts"], classes), ""),
                "num_detections": found.valid_detections,
                "key": tf.identity(key),
            }

        module = Served(self.model.variables, tables, function)
        return module, module.function


def one_picture(truth: Any, found: Any, index: int) -> coco.Picture:
    """What coco.metrics takes, of padded arrays."""
    boxes, classes, crowd = truth
    real, count = classes >= 0, int(found.valid_detections[index])
    return coco.Picture(
        boxes[real].astype(np.float64),
        classes[real].astype(np.int64),
        crowd[real],
        found.nmsed_boxes[index, :count].numpy().astype(np.float64),
        found.nmsed_classes[index, :count].numpy().astype(np.int64),
        found.nmsed_scores[index, :count].numpy().astype(np.float64),
    )


def checked(args: SimpleNamespace) -> Frame:
    """The network's picture, by the arguments. Raises UserError for arguments that do not go together."""
    size, low, high = args.image_size, args.fpn_min_level, args.fpn_max_level
    if len(size) != 2 or not all(32 <= side <= 4096 for side in size):
        raise UserError("--image_size is HEIGHT,WIDTH in pixels, each from 32 to 4096, as in 640,640.")
    if low > high:
        raise UserError(f"--fpn_min_level={low} is above --fpn_max_level={high}.")
    if args.fpn_type == "nasfpn" and (low, high) != retinanet.NASFPN_LEVELS:
        raise UserError(
            f"--fpn_type=nasfpn is made for the levels 3 to 7, not {low} to {high}: leave --fpn_min_level "
            "and --fpn_max_level out, or choose --fpn_type=fpn."
        )
    if not args.bbox_aspect_ratios or not all(0.05 <= ratio <= 20 for ratio in args.bbox_aspect_ratios):
        raise UserError("--bbox_aspect_ratios are numbers from 0.05 to 20 by comma, width by height.")
    if args.aug_scale_min > args.aug_scale_max:
        raise UserError(
            f"--aug_scale_min={args.aug_scale_min} is above --aug_scale_max={args.aug_scale_max}."
        )
    schedule.optimizer_arguments(args.optimizer_type, args.optimizer_arguments)
    return Frame(size[0], size[1], 2**high)


def read(args: SimpleNamespace) -> tuple[records.Found, records.Found]:
    """Both data sets, checked. Raises UserError for data that cannot be trained on."""
    found = []
    for argument in ("training_data_path", "validation_data_path"):
        check = detect_records.Boxes().check
        part = records.scan(argument, files(getattr(args, argument)), detect_records.DETECTION, check)
        log.info(
            "--%s: %d pictures with %d boxes in %d file(s), %.1f MB.",
            argument,
            part.images,
            part.boxes,
            len(part.files),
            part.bytes / 1e6,
        )
        found.append(part)
    if found[0].boxes == 0:
        raise UserError(
            "--training_data_path: no picture has a box. 'image/object/bbox/ymin', xmin, ymax and xmax hold "
            "them, as shares of the picture's height and width."
        )
    if found[0].boxes_most > args.max_num_bboxes_in_training:
        log.warning(
            "A picture has %d boxes, above --max_num_bboxes_in_training=%d: the rest are not trained with.",
            found[0].boxes_most,
            args.max_num_bboxes_in_training,
        )
    records.enough(args.num_eval_images, found[1])
    return found[0], found[1]


def course(args: SimpleNamespace, offset: int, images: int) -> loop.Course:
    """How training goes, by the arguments."""
    initial = schedule.initial_rate(args, 0.01 / 16)
    names = ("resnet_depth", "num_classes", "fpn_type", "fpn_min_level", "fpn_max_level", "fpn_feature_dims")
    names += ("head_num_convs", "bbox_aspect_ratios", "anchor_size", "image_size", "optimizer_type")
    identity = {name: getattr(args, name) for name in names} | {"the first label": offset}
    plan = schedule.planned(args, initial, images, schedule.DETECTION_STEPS)
    return loop.Course(
        schedule=plan,
        steps_per_eval=args.train_steps_per_eval,
        batch=args.train_batch_size,
        best="AP",
        identity=identity,
        arguments=vars(args),
        percent="AP50",
    )


def main(args: SimpleNamespace) -> None:
    """Trains and saves by the table's arguments (tables/image_object_detection.json)."""
    tf.keras.utils.set_random_seed(args.seed)
    log.info("GPUs that TensorFlow sees: %d.", len(tf.config.list_physical_devices("GPU")))
    frame = checked(args)
    folder = JobFolder(args.job_dir)
    training, validation = read(args)
    offset = records.label_offset((training, validation), args.num_classes, detect_records.LABEL)
    texts = records.class_texts((training, validation), args.num_classes, offset)
    task = Detector(args, frame, texts, offset)
    log.info(
        "RetinaNet with ResNet-%d and %s on %d x %d pixels: %d anchors; labels count from %d.",
        args.resnet_depth,
        args.fpn_type,
        frame.rows,
        frame.columns,
        len(task.bases),
        offset,
    )
    pretrained.load(args.pretrained_checkpoint_path, task.backbone, {"detector": task.detector})
    seen, judged = Decoder(training), Decoder(validation)
    how = Augmentation(args.aug_rand_hflip, args.aug_scale_min, args.aug_scale_max, args.auto_augmentation)
    images = args.num_eval_images or validation.images
    rest = detect_data.evaluation(validation, judged, frame, offset, images)
    shown = detect_data.batched(rest, args.train_batch_size, training=False)
    task.validation = lambda: loop.hurried(judged.guarded(shown))

    def batches(start: int) -> Iterator[Any]:
        # A training that goes on must not see the pictures in the order of its beginning again.
        most, seed = args.max_num_bboxes_in_training, args.seed + start
        elements = detect_data.training(training, seen, frame, task.bases, how, offset, most, seed)
        return seen.guarded(detect_data.batched(elements, args.train_batch_size, training=True))

    loop.fit(task, course(args, offset, training.images), folder, batches)


if __name__ == "__main__":
    run("image_object_detection", main)
