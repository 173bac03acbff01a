from setuptools import find_packages, setup

setup(
    name="keras-tuning",
    version="1.0",
    description="A Keras model whose learning rate and width are tuned by what TensorBoard shows",
    packages=find_packages(),
    # TensorFlow comes with the runtime version.
    install_requires=[],
)
