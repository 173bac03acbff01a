"""The SavedModel: one CSV row without the target in, a prediction out, all in the graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf

from trainyard_algorithms.keras_tabular.features import Features, features
from trainyard_algorithms.tabular.kinds import BLANKS
from trainyard_algorithms.tabular.prepare import Column, Table

Outcome = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]  # numeric, categorical -> probabilities or values
BLANK = f"^({'|'.join(re.escape(each) for each in BLANKS)})$"
SEPARATOR = "\x1f"  # between a column's number and a value in the one lookup table


def position(column: Column) -> int:
    """The column's place, from 0, in a row of the user's file without the target; keys that are no feature
    count."""
    return int(column.name.removeprefix("column_")) - 2


def lookup(feature: Features) -> tf.lookup.StaticHashTable | None:
    """One table for all vocabularies: thousands of tables would make a model slow to load."""
    keys, ids = [], []
    for place, column in enumerate(feature.categorical):
        if column.buckets == 0:
            keys += [f"{place}{SEPARATOR}{value}" for value in column.vocabulary]
            ids += range(1, 1 + len(column.vocabulary))
    if not keys:
        return None
    initial = tf.lookup.KeyValueTensorInitializer(keys, ids, tf.string, tf.int32)
    return tf.lookup.StaticHashTable(initial, default_value=0)


class RowDecoder(tf.Module):
    """CSV rows without the target -> the arrays of a batch, by the rules of tabular.batches."""

    def __init__(self, table: Table) -> None:
        super().__init__(name="row_decoder")
        feature = features(table)
        self._feature = feature
        self._positions = sorted(position(column) for column in table.columns)
        place = {each: order for order, each in enumerate(self._positions)}
        self._numeric = [place[position(column)] for column in feature.numeric]
        self._place = [place[position(column)] for column in feature.categorical]
        # Categorical columns by their number of buckets; under 0 those with a vocabulary.
        groups: dict[int, list[int]] = {}
        for order, column in enumerate(feature.categorical):
            groups.setdefault(column.buckets, []).append(order)
        self._groups = tuple((buckets, tuple(members)) for buckets, members in groups.items())
        self.table = lookup(feature)

    def __call__(self, rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        rows = tf.strings.regex_replace(rows, r"[\r\n]+$", "")
        fields = tf.io.decode_csv(rows, [""] * len(self._positions), select_cols=self._positions)
        text = tf.stack(fields, axis=1)
        text = tf.strings.regex_replace(text, BLANK, "")
        return self._numbers(text), self._ids(text)

    def _numbers(self, text: tf.Tensor) -> tf.Tensor:
        if not self._numeric:
            return tf.zeros([tf.shape(text)[0], 0])
        mine = tf.gather(text, self._numeric, axis=1)
        blank = tf.equal(mine, "")
        # Rounded to float32 once, as tabular.batches reads.
        values = tf.strings.to_number(tf.strings.strip(tf.where(blank, "0", mine)), tf.float32)
        means = tf.constant([column.mean for column in self._feature.numeric], tf.float32)
        return tf.where(blank, means, values)

    def _ids(self, text: tf.Tensor) -> tf.Tensor:
        if not self._groups:
            return tf.zeros([tf.shape(text)[0], 0], tf.int32)
        parts = []
        for buckets, members in self._groups:
            mine = tf.gather(text, [self._place[order] for order in members], axis=1)
            if buckets:
                bucket = tf.cast(tf.strings.to_hash_bucket_fast(mine, buckets), tf.int32)
                parts.append(tf.where(tf.equal(mine, ""), 0, 1 + bucket))
            elif self.table is not None:
                prefix = tf.constant([f"{order}{SEPARATOR}" for order in members])
                parts.append(
                    self.table.lookup(tf.strings.join([tf.broadcast_to(prefix, tf.shape(mine)), mine]))
                )
            else:
                parts.append(tf.zeros(tf.shape(mine), tf.int32))
        order = [each for _, members in self._groups for each in members]
        return tf.gather(tf.concat(parts, axis=1), np.argsort(order).astype(np.int32), axis=1)


class Serving(tf.Module):
    """What model/ holds. The names of the outputs are those of TensorFlow's estimators."""

    def __init__(self, table: Table, network: tf.Module, outcome: Outcome) -> None:
        super().__init__(name="serving")
        self.decoder = RowDecoder(table)
        self.network = network  # kept, so that its variables are saved
        self._outcome = outcome
        self._labels = table.labels

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="csv_row")])
    def predict(self, csv_row: tf.Tensor) -> dict[str, tf.Tensor]:
        outcome = self._outcome(*self.decoder(csv_row))
        if self._labels is None:
            return {"predictions": outcome[:, tf.newaxis]}
        return class_outputs(outcome, self._labels)


def class_outputs(probabilities: tf.Tensor, labels: Sequence[str]) -> dict[str, tf.Tensor]:
    names = tf.constant(list(labels))
    ids = tf.argmax(probabilities, axis=1)
    rows = tf.shape(probabilities)[0]
    return {
        "classes": tf.gather(names, ids)[:, tf.newaxis],
        "class_ids": ids[:, tf.newaxis],
        "probabilities": probabilities,
        "scores": tf.identity(probabilities),
        "all_classes": tf.tile(names[tf.newaxis, :], [rows, 1]),
    }


def save(folder: Path, table: Table, network: tf.Module, outcome: Outcome) -> None:
    """Writes the SavedModel with the signature `serving_default` into `folder`."""
    serving = Serving(table, network, outcome)
    tf.saved_model.save(serving, str(folder), signatures={"serving_default": serving.predict})
