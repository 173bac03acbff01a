from setuptools import find_packages, setup

setup(name="tutorials", version="1.0", packages=find_packages(), package_data={"tutorials": ["vocabulary.txt"]}, install_requires=[])
