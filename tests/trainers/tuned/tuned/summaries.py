"""A trial that writes its metric as a TensorFlow summary, in the way that its parameter says."""

import argparse
import json
import os

import tensorflow as tf


def write_scalars(folder, tag):
    writer = tf.summary.create_file_writer(folder)
    with writer.as_default():
        for step in range(3):
            tf.summary.scalar(tag, 0.25 * step, step=step)
            tf.summary.histogram("weights", [0.0, 1.0], step=step)
    writer.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", required=True)
    parser.add_argument("--way", required=True)
    arguments = parser.parse_args()
    tag = os.environ["CLOUD_ML_HP_METRIC_TAG"]
    if arguments.way == "bucket":
        write_scalars(arguments.job_dir + "/train", "another")
        write_scalars(arguments.job_dir + "/eval", tag)
    elif arguments.way == "files":
        write_scalars("/gcs/" + arguments.job_dir.removeprefix("gs://") + "/logs", tag)
    elif arguments.way == "local":
        write_scalars("logs", tag)
    elif arguments.way == "trial-again":  # as programs do that do not know that the job-dir is the trial's already
        write_scalars(os.path.join(arguments.job_dir, json.loads(os.environ["TF_CONFIG"])["task"]["trial"]), tag)
    elif arguments.way == "tf1":
        with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
            value = tf.compat.v1.placeholder(tf.float32, [])
            with tf.compat.v1.summary.FileWriter(arguments.job_dir, graph=graph) as writer:
                tf.compat.v1.summary.scalar(tag, value)
                tf.compat.v1.summary.scalar(tag, value * 100)  # TensorFlow appends _1
                summary = tf.compat.v1.summary.merge_all()
                for step in range(3):
                    writer.add_summary(session.run(summary, {value: 0.25 * step}), step)
    else:
        write_scalars(arguments.job_dir, "epoch_" + tag)


if __name__ == "__main__":
    main()
