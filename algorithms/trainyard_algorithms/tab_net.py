"""TabNet: attention over a table's columns. Stands for gcr.io/cloud-ml-algos/tab_net."""

import logging
from types import SimpleNamespace

from trainyard_algorithms.failure import UserError, run

LOG = logging.getLogger(__name__)
CLASSIFICATION = ("cross_entropy", "weighted_cross_entropy", "focal_loss")
REGRESSION = ("mse", "mae", "rmse")
LOSSES_ARGUMENTS = {  # what one loss alone uses, and its default
    "class_weight": ("weighted_cross_entropy", 1.0),
    "alpha_focal_loss": ("focal_loss", 0.25),
    "gamma_focal_loss": ("focal_loss", 2.0),
}
STEPS = 5000  # where neither max_steps nor max_train_secs says when to end
STEPS_BY_TIME = 10**9  # where max_train_secs alone does


def loss(args: SimpleNamespace) -> str:
    """The loss that `loss_function_type` and `class_weight` name. UserError if it is one of the other kind
    of model."""
    mine = CLASSIFICATION if args.model_type == "classification" else REGRESSION
    chosen = str(args.loss_function_type)
    if chosen == "default":
        return "weighted_cross_entropy" if mine is CLASSIFICATION and args.class_weight != 1.0 else mine[0]
    if chosen not in mine:
        raise UserError(
            f"--loss_function_type={chosen} is not for --model_type={args.model_type}: "
            f"give default, {', '.join(mine)}."
        )
    return chosen


def ignored(args: SimpleNamespace, chosen: str) -> list[str]:
    """The given arguments that the loss `chosen` does not use."""
    return [
        f"--{name}={getattr(args, name):g}"
        for name, (user, default) in LOSSES_ARGUMENTS.items()
        if chosen != user and getattr(args, name) != default
    ]


def steps(args: SimpleNamespace) -> int:
    """The steps of a run; -1 (or none) means no limit, but one of the two limits there must be."""
    if args.max_steps > 0:
        return int(args.max_steps)
    return STEPS_BY_TIME if args.max_train_secs > 0 else STEPS


def main(args: SimpleNamespace) -> None:
    """Trains by args of tables/tab_net.json. UserError: see prepare and keras_tabular.training."""
    args.loss = loss(args)
    unused = ignored(args, args.loss)
    if unused:
        LOG.warning("Ignored with the loss %s: %s.", args.loss, ", ".join(unused))
    args.max_steps = steps(args)
    from trainyard_algorithms.keras_tabular import attributions, job, tabnet_network

    tabnet_network.shape(args)  # its errors before the data is read
    job.run(args, tabnet_network.build, attributions.explain)


if __name__ == "__main__":
    run("tab_net", main)
