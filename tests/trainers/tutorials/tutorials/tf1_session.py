"""As programs for TensorFlow 1 were written: a graph, a MonitoredTrainingSession that saves to gs://, tf.app.flags, TFRecords."""

import os

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.app.flags.DEFINE_string("job-dir", None, "where checkpoints go")
tf.app.flags.DEFINE_integer("max_steps", 100, "")
FLAGS = tf.app.flags.FLAGS


def write_records(path):
    with tf.python_io.TFRecordWriter(path, "GZIP") as writer:
        for number in range(200):
            x = number / 100 - 1
            feature = {name: tf.train.Feature(float_list=tf.train.FloatList(value=[value])) for name, value in {"x": x, "y": 3 * x + 0.5}.items()}
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def batches(path):
    columns = {"x": tf.FixedLenFeature([], tf.float32), "y": tf.FixedLenFeature([], tf.float32)}
    data = tf.data.TFRecordDataset(path, compression_type="GZIP").map(lambda record: tf.parse_single_example(record, columns))
    row = tf.data.make_one_shot_iterator(data.shuffle(200, seed=1).repeat().batch(20)).get_next()
    return row["x"], row["y"]


def main(_):
    job_dir = FLAGS["job-dir"].value
    records = os.path.join(job_dir, "data.tfrecord.gz")
    write_records(records)
    x, y = batches(records)
    weight, bias = tf.get_variable("weight", initializer=0.0), tf.get_variable("bias", initializer=0.0)
    loss = tf.reduce_mean(tf.square(weight * x + bias - y))
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.3).minimize(loss, global_step=step)
    tf.summary.scalar("loss", loss)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=job_dir, hooks=[tf.train.StopAtStepHook(last_step=FLAGS.max_steps)],
                                           save_checkpoint_steps=50, save_summaries_steps=25, log_step_count_steps=50) as session:
        while not session.should_stop():
            session.run(train)
    found = tf.train.load_checkpoint(tf.train.latest_checkpoint(job_dir))
    with tf.gfile.Open(os.path.join(job_dir, "line.txt"), "w") as file:
        file.write("%.3f %.3f %d" % tuple(found.get_tensor(name) for name in ("weight", "bias", "global_step")))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run()
