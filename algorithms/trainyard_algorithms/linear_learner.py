"""Linear learner: logistic, softmax or linear regression. Stands for
gcr.io/cloud-ml-algos/linear_learner_*."""

from types import SimpleNamespace

from trainyard_algorithms.failure import run


def main(args: SimpleNamespace) -> None:
    """Trains by args of tables/linear_learner.json. UserError: see prepare and keras_tabular.training."""
    from trainyard_algorithms.keras_tabular import job, linear_network

    job.run(args, linear_network.build)


if __name__ == "__main__":
    run("linear_learner", main)
