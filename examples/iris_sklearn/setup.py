from setuptools import find_packages, setup

setup(
    name="iris-sklearn",
    version="1.0",
    description="A classifier for the iris data with scikit-learn",
    packages=find_packages(),
    # All three come with the runtime version; a version given here would be installed over it.
    install_requires=["scikit-learn", "joblib", "google-cloud-storage"],
)
