"""TensorFlow on gs:// paths, as any tutorial does it: tf.io.gfile, tf.data, checkpoints, SavedModel."""

import json
import os
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "1"
import tensorflow as tf  # noqa: E402


def median(values):
    return sorted(values)[len(values) // 2]


def gfile(folder):
    writes, reads = [], []
    begin = time.monotonic()
    with tf.io.gfile.GFile(folder + "/first.txt", "w") as out:
        out.write("first")
    first = time.monotonic() - begin
    for number in range(20):
        begin = time.monotonic()
        with tf.io.gfile.GFile(f"{folder}/many/{number:02}.txt", "w") as out:
            out.write(f"text {number}")
        writes.append(time.monotonic() - begin)
        begin = time.monotonic()
        with tf.io.gfile.GFile(f"{folder}/many/{number:02}.txt") as back:
            assert back.read() == f"text {number}"
        reads.append(time.monotonic() - begin)
    with tf.io.gfile.GFile(folder + "/many/00.txt", "a") as out:
        out.write(", more")
    tf.io.gfile.makedirs(folder + "/made/deep")
    tf.io.gfile.copy(folder + "/first.txt", folder + "/made/copy.txt")
    tf.io.gfile.rename(folder + "/made/copy.txt", folder + "/made/renamed.txt")
    found = {
        "exists": tf.io.gfile.exists(folder + "/first.txt"), "no": tf.io.gfile.exists(folder + "/nothing"),
        "isdir": tf.io.gfile.isdir(folder + "/made"), "listdir": sorted(tf.io.gfile.listdir(folder + "/made")),
        "glob": len(tf.io.gfile.glob(folder + "/many/*.txt")), "size": tf.io.gfile.stat(folder + "/first.txt").length,
        "walk": sum(len(names) for _, _, names in tf.io.gfile.walk(folder)),
        "appended": tf.io.gfile.GFile(folder + "/many/00.txt").read(),
    }
    tf.io.gfile.remove(folder + "/many/19.txt")
    tf.io.gfile.rmtree(folder + "/made")
    found["after"] = [tf.io.gfile.exists(folder + "/many/19.txt"), tf.io.gfile.exists(folder + "/made/renamed.txt")]
    big = os.urandom(20 << 20)
    begin = time.monotonic()
    with tf.io.gfile.GFile(folder + "/big.bin", "wb") as out:
        out.write(big)
    found["big_write"] = time.monotonic() - begin
    begin = time.monotonic()
    found["big_equal"] = tf.io.gfile.GFile(folder + "/big.bin", "rb").read() == big
    found["big_read"] = time.monotonic() - begin
    try:
        tf.io.gfile.GFile(folder + "/nothing").read()
    except tf.errors.NotFoundError:
        found["missing"] = "NotFoundError"
    return {**found, "first_write": first, "write": median(writes), "read": median(reads)}


def data(folder):
    with tf.io.gfile.GFile(folder + "/lines.txt", "w") as out:
        out.write("".join(f"line {number}\n" for number in range(1000)))
    lines = sum(1 for _ in tf.data.TextLineDataset(folder + "/lines.txt"))
    with tf.io.TFRecordWriter(folder + "/part-0.tfrecord") as writer:
        for number in range(500):
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                "x": tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))})).SerializeToString())
    files = tf.data.Dataset.list_files(folder + "/part-*.tfrecord")
    parsed = files.interleave(tf.data.TFRecordDataset).map(
        lambda record: tf.io.parse_single_example(record, {"x": tf.io.FixedLenFeature([], tf.int64)})["x"])
    return {"lines": lines, "sum": int(parsed.reduce(tf.constant(0, tf.int64), lambda a, b: a + b))}


def checkpoints(folder):
    step = tf.Variable(0)
    weights = tf.Variable(tf.random.normal([100, 100]))
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=step, weights=weights), folder + "/ckpt", max_to_keep=2)
    times = []
    for _ in range(4):
        step.assign_add(1)
        begin = time.monotonic()
        manager.save()
        times.append(time.monotonic() - begin)
    kept = [path.rsplit("/", 1)[1] for path in manager.checkpoints]
    step.assign(0)
    tf.train.Checkpoint(step=step, weights=weights).restore(tf.train.latest_checkpoint(folder + "/ckpt")).expect_partial()

    class Double(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def __call__(self, x):
            return x * 2

    tf.saved_model.save(Double(), folder + "/saved")
    doubled = tf.saved_model.load(folder + "/saved")(tf.constant([1.5])).numpy().tolist()
    with tf.summary.create_file_writer(folder + "/logs").as_default():
        tf.summary.scalar("loss", 0.5, step=1)
    return {"kept": kept, "restored": int(step), "doubled": doubled, "save": median(times),
            "events": len(tf.io.gfile.glob(folder + "/logs/events*"))}


def keras(folder):
    import numpy as np

    model = tf.keras.Sequential([tf.keras.layers.Input([4]), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.random.default_rng(0).normal(size=(256, 4)).astype("float32")
    y = x.sum(axis=1, keepdims=True)
    # Keras 2 writes .keras and .h5 files for gs:// to a temporary file and leaves them there, also on the real Cloud
    # Storage: with it, programs save in TensorFlow's formats.
    is_keras_3 = getattr(tf.keras, "__version__", "2").startswith("3")
    best, weights = ("/best.keras", "/w/{epoch}.weights.h5") if is_keras_3 else ("/best", "/w/{epoch}")
    callbacks = [tf.keras.callbacks.ModelCheckpoint(folder + best),
                 tf.keras.callbacks.ModelCheckpoint(folder + weights, save_weights_only=True),
                 tf.keras.callbacks.BackupAndRestore(folder + "/backup", delete_checkpoint=False),
                 tf.keras.callbacks.TensorBoard(folder + "/board")]
    begin = time.monotonic()
    model.fit(x, y, epochs=3, verbose=0, callbacks=callbacks)
    seconds = time.monotonic() - begin
    again = tf.keras.models.load_model(folder + best)
    same = bool(np.allclose(model.predict(x, verbose=0), again.predict(x, verbose=0)))
    if hasattr(model, "export"):
        model.export(folder + "/export")
    else:
        tf.saved_model.save(model, folder + "/export")
    return {"same": same, "seconds": seconds, "version": tf.__version__, "export": tf.io.gfile.exists(folder + "/export/saved_model.pb"),
            "weights": len(tf.io.gfile.listdir(folder + "/w")), "backup": tf.io.gfile.isdir(folder + "/backup"),
            "board": tf.io.gfile.isdir(folder + "/board")}


if __name__ == "__main__":
    what, folder = sys.argv[1], sys.argv[sys.argv.index("--job-dir") + 1]
    print("RESULT " + json.dumps({"gfile": gfile, "data": data, "checkpoints": checkpoints, "keras": keras}[what](folder)), flush=True)
