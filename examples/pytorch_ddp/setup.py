from setuptools import find_packages, setup

setup(
    name="pytorch-ddp",
    version="1.0",
    description="Synchronous training with torch.distributed",
    packages=find_packages(),
    # What it imports comes with the runtime version.
)
