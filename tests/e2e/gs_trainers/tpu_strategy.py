"""A program for a TPU, by TensorFlow's own guide: the resolver without arguments, the strategy, Keras and a loop of its own."""

import importlib.util
import json
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "1"
if importlib.util.find_spec("tf_keras"):
    os.environ["TF_USE_LEGACY_KERAS"] = "1"  # Keras 3 does not train under TPUStrategy
import tensorflow as tf  # noqa: E402

resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = getattr(tf.distribute, "TPUStrategy", tf.distribute.experimental.TPUStrategy)(resolver)
assert tf.distribute.experimental.TPUStrategy(resolver).num_replicas_in_sync == strategy.num_replicas_in_sync

data = tf.random.stateless_uniform((64, 4), seed=(1, 2))
dataset = tf.data.Dataset.from_tensor_slices((data, tf.reduce_sum(data, 1))).batch(16, drop_remainder=True).repeat()

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
    model.compile("sgd", "mse")
    weight = tf.Variable(2.0)
    optimizer = tf.keras.optimizers.SGD(0.1)
losses = model.fit(dataset, epochs=2, steps_per_epoch=4, verbose=0).history["loss"]


@tf.function
def train(batches):
    def step(batch):
        features, label = batch
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.reduce_sum(features, 1) * weight - label) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
        return loss

    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(step, args=(next(batches),)), axis=None)


batches = iter(strategy.experimental_distribute_dataset(dataset))
own = [float(train(batches)) for _ in range(3)]
print("RESULT " + json.dumps({"version": tf.__version__, "replicas": strategy.num_replicas_in_sync,
                              "keras": losses[1] < losses[0], "loop": own[2] < own[0],
                              "node": json.loads(os.environ["TPU_CONFIG"])["tpu_node_name"]}), flush=True)
