"""What linear learner, wide & deep and TabNet share: optimisers, training loop, evaluation, export.

Every module here imports TensorFlow; a trainer imports them inside main, after its arguments are checked.
"""
