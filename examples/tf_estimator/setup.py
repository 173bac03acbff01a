from setuptools import find_packages, setup

setup(
    name="tf-estimator",
    version="1.0",
    description="A linear classifier with tf.estimator.train_and_evaluate",
    packages=find_packages(),
    # What it imports comes with the runtime version.
)
