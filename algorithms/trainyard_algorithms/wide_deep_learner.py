"""Wide & deep: a linear model beside a neural network. Stands for
gcr.io/cloud-ml-algos/wide_deep_learner_*."""

from types import SimpleNamespace

from trainyard_algorithms.failure import run


def main(args: SimpleNamespace) -> None:
    """Trains by args of tables/wide_deep_learner.json. UserError: see prepare and keras_tabular.training."""
    from trainyard_algorithms.keras_tabular import job, wide_deep_network

    job.run(args, wide_deep_network.build)


if __name__ == "__main__":
    run("wide_deep_learner", main)
