from setuptools import find_packages, setup

setup(
    name="pytorch-model-parallel",
    version="1.0",
    description="One model split over two replicas",
    packages=find_packages(),
    # What it imports comes with the runtime version.
)
