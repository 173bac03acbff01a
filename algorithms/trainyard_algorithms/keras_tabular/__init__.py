"""What linear learner, wide & deep and TabNet share: optimisers, training loop, evaluation, export.

Every module here imports TensorFlow; a trainer imports them inside main, after its arguments are checked.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # without TensorFlow's notes on how it was built
