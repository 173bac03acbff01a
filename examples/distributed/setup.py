from setuptools import find_packages, setup

setup(
    name="distributed",
    version="1.0",
    description="Logistic regression with a parameter server; standard library only",
    packages=find_packages(),
)
