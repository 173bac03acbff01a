"""Says what came of the attacks that were made while this package was built."""

import os

with open(os.path.join(os.path.dirname(__file__), "results.json")) as file:
    print("RESULTS " + file.read(), flush=True)
