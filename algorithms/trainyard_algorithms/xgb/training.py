"""Training with a report after each round."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import xgboost as xgb

from trainyard_algorithms.failure import UserError
from trainyard_algorithms.xgb import metrics, refusal
from trainyard_algorithms.xgb.parameters import Settings

#: Called after each round with the rounds done so far and the metrics of each part that was evaluated.
Report = Callable[[int, dict[str, dict[str, float]]], None]


class Reports(xgb.callback.TrainingCallback):
    """Tells `report` the metrics of every round."""

    def __init__(self, report: Report, names: Sequence[str], error: str | None) -> None:
        super().__init__()
        self._report = report
        self._names = names
        self._error = error

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        parts = {
            part: {name: _last(values) for name, values in log.items()} for part, log in evals_log.items()
        }
        found = {part: metrics.reported(values, self._names, self._error) for part, values in parts.items()}
        self._report(epoch + 1, found)
        return False


class Ends(xgb.callback.TrainingCallback):
    """Begins no round but the first once `told` says so.

    Before a round, as XGBoost calls callbacks in any order, and after a round none behind one that ends the
    training.
    """

    def __init__(self, told: Callable[[], bool]) -> None:
        super().__init__()
        self._told = told

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        return epoch > 0 and self._told()


def _last(values: Sequence[Any]) -> float:
    value = values[-1]
    return float(value[0] if isinstance(value, tuple) else value)


@contextmanager
def refusals() -> Iterator[None]:
    """XGBoost's refusals as UserError, in one line."""
    try:
        yield
    except xgb.core.XGBoostError as error:
        if refusal.is_collective(error):
            raise
        if refusal.is_memory(error):
            text = f"{refusal.reason(error).capitalize()}: use a machine type with more, or less data."
            raise UserError(text) from error
        raise UserError(f"XGBoost refuses this: {refusal.reason(error)}.") from error


def train(
    settings: Settings,
    training: xgb.DMatrix,
    parts: Sequence[tuple[xgb.DMatrix, str]],
    names: Sequence[str],
    report: Report,
    more: Sequence[xgb.callback.TrainingCallback] = (),
    start: xgb.Booster | None = None,
) -> xgb.Booster:
    """Trains to settings.rounds rounds in all, those of `start` included; evaluates `parts` after each round.

    UserError: XGBoost refuses the data or a parameter.
    """
    error = metrics.error_metric(settings.objective, settings.task) if names else None
    params = {**settings.params, "eval_metric": metrics.evaluated(names, error)}
    if not names:
        params = {**settings.params, "disable_default_eval_metric": 1}
    callbacks = [Reports(report, names, error), *more]
    given = list(parts) if names else []
    with refusals():
        if start is not None:
            return _continued(params, training, given, settings.rounds, callbacks, start)
        return xgb.train(
            params, training, settings.rounds, evals=given, verbose_eval=False, callbacks=callbacks
        )


def _continued(
    params: dict[str, Any],
    training: xgb.DMatrix,
    parts: Sequence[tuple[xgb.DMatrix, str]],
    rounds: int,
    callbacks: Sequence[xgb.callback.TrainingCallback],
    start: xgb.Booster,
) -> xgb.Booster:
    """What xgb.train does with xgb_model, but rounds are counted on: their numbers seed what is random."""
    matrices = [training, *(each for each, _ in parts)]
    booster = xgb.Booster(params, matrices, model_file=start)
    every = xgb.callback.CallbackContainer(callbacks)
    booster = every.before_training(booster)
    for number in range(start.num_boosted_rounds(), rounds):
        if every.before_iteration(booster, number, training, list(parts)):
            break
        booster.update(training, number)
        if every.after_iteration(booster, number, training, list(parts)):
            break
    return every.after_training(booster)


def evaluate(
    booster: xgb.Booster, part: xgb.DMatrix, settings: Settings, names: Sequence[str]
) -> dict[str, float]:
    """The metrics of a model on data that it was not evaluated on in training."""
    error = metrics.error_metric(settings.objective, settings.task)
    booster.set_param([("eval_metric", name) for name in metrics.evaluated(names, error)])
    with refusals():
        text = booster.eval_set([(part, "part")])
    pairs = (word.removeprefix("part-").rpartition(":") for word in text.split()[1:])
    return metrics.reported({name: float(value) for name, _, value in pairs}, names, error)
