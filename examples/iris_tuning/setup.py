from setuptools import find_packages, setup

setup(
    name="iris-tuning",
    version="1.0",
    description="A classifier for the iris data whose parameters are tuned",
    packages=find_packages(),
    # Both come with the runtime version; a version given here would be installed over it.
    install_requires=["scikit-learn", "cloudml-hypertune"],
)
