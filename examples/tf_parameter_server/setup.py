from setuptools import find_packages, setup

setup(
    name="tf-parameter-server",
    version="1.0",
    description="Asynchronous training with TensorFlow's parameter server strategy",
    packages=find_packages(),
    # What it imports comes with the runtime version.
)
