"""The Keras tutorial: images from an .npz on gs://, checkpoints each epoch, a SavedModel at the end; goes on where it stopped."""

import argparse
import os

import numpy as np
import tensorflow as tf


def load_data(path):
    with tf.io.gfile.GFile(path, "rb") as file:
        with np.load(file) as data:
            return (data["x_train"], data["y_train"]), (data["x_test"], data["y_test"])


def create_model(learning_rate):
    model = tf.keras.Sequential([
        tf.keras.layers.Reshape((28, 28, 1), input_shape=(28, 28)),
        tf.keras.layers.Rescaling(1 / 255),
        tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dropout(0.2),
        tf.keras.layers.Dense(10, activation="softmax")])
    model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job-dir", type=str, required=True)
    parser.add_argument("--train-file", required=True)
    parser.add_argument("--num-epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=0.01)
    args, _ = parser.parse_known_args()

    tf.keras.utils.set_random_seed(1)
    (x_train, y_train), test = load_data(args.train_file)
    model = create_model(args.learning_rate)
    checkpoints = os.path.join(args.job_dir, "checkpoints")
    latest = tf.train.latest_checkpoint(checkpoints)
    done = 0
    if latest:
        model.load_weights(latest)
        done = int(latest.rsplit("-", 1)[1])
        print(f"resuming after epoch {done} from {latest}")
    history = model.fit(
        x_train, y_train, epochs=args.num_epochs, initial_epoch=done, batch_size=args.batch_size, validation_data=test, verbose=2,
        callbacks=[tf.keras.callbacks.ModelCheckpoint(checkpoints + "/cp-{epoch:04d}", save_weights_only=True),
                   tf.keras.callbacks.CSVLogger("history.csv", append=True),
                   tf.keras.callbacks.TensorBoard(os.path.join(args.job_dir, "keras_tensorboard"))])
    tf.io.gfile.copy("history.csv", os.path.join(args.job_dir, "history.csv"), overwrite=True)
    with tf.io.gfile.GFile(os.path.join(args.job_dir, "accuracy.txt"), "w") as file:
        file.write(str(history.history["val_accuracy"][-1]))
    tf.keras.models.save_model(model, os.path.join(args.job_dir, "keras_export"))


if __name__ == "__main__":
    main()
