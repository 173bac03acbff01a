from setuptools import find_packages, setup

setup(
    name="sklearn-search",
    version="1.0",
    description="A grid search on all processors, reading a table from gs://",
    packages=find_packages(),
    # What it imports comes with the runtime version.
)
