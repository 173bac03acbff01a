"""Learns which of two moons a point is on. All that it reports is what TensorBoard shows anyway."""

import argparse

import numpy as np
import tensorflow as tf


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--job-dir", required=True, help="a folder, or gs://BUCKET/PATH")
    parser.add_argument("--learning_rate", type=float, default=0.1)
    parser.add_argument("--units", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=5)
    return parser.parse_args()


def two_moons(count, random):
    angle = random.uniform(0, np.pi, count)
    side = random.integers(0, 2, count)
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points[side == 1] = [1, 0.5] - points[side == 1]
    return (points + random.normal(0, 0.1, points.shape)).astype("float32"), side.astype("float32")


def main():
    args = parse_args()
    points, sides = two_moons(1000, np.random.default_rng(0))
    model = tf.keras.Sequential([tf.keras.layers.Dense(args.units, activation="tanh"),
                                 tf.keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer=tf.keras.optimizers.SGD(args.learning_rate, momentum=0.9), loss="binary_crossentropy",
                  metrics=["accuracy"])
    summaries = tf.keras.callbacks.TensorBoard(args.job_dir.rstrip("/") + "/logs", write_graph=False)
    model.fit(points, sides, validation_split=0.3, epochs=args.epochs, verbose=2, callbacks=[summaries])


if __name__ == "__main__":
    main()
