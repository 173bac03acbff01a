from setuptools import find_packages, setup

setup(
    name="keras-multiworker",
    version="1.0",
    description="Keras with MultiWorkerMirroredStrategy on synthetic digits-like images",
    packages=find_packages(),
    # 2.15 is the last release whose tf.keras is Keras 2, which this strategy needs.
    # Runtime version 2.15 has it: nothing gets installed.
    install_requires=["tensorflow>=2.12,<2.16"],
)
