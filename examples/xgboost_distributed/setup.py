from setuptools import find_packages, setup

setup(
    name="xgboost-distributed",
    version="1.0",
    description="XGBoost on several replicas, by its own collective",
    packages=find_packages(),
    # What it imports comes with the runtime version.
)
