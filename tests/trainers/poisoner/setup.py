import os
import sys

from setuptools import setup

# Only where a test has put its target beside it: making the source distribution attacks nothing.
if os.path.exists("target.json"):
    sys.path.insert(0, os.getcwd())
    import attack

    attack.run()

setup(name="poisoner", version="1.0", packages=["poisoner"], package_data={"poisoner": ["results.json"]})
