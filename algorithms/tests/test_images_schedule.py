"""Learning rates and optimizer arguments of the image trainers: rules without TensorFlow."""

import pytest
from trainyard_algorithms.failure import UserError
from trainyard_algorithms.images import schedule


def rates(decay: str, steps: tuple[int, ...], warmup_steps: int = 0) -> list[float]:
    plan = schedule.Schedule(1.0, 0.2, warmup_steps, decay, 90, 10, schedule.CLASSIFICATION_STEPS)
    return [plan.rate(step) for step in steps]


ROWS = {
    "constant": ("constant", (0, 50, 200), 0, [1, 1, 1]),
    "cosine": ("cosine", (0, 45, 90, 200), 0, [1, 0.5, 0, 0]),
    "stepwise": ("stepwise", (29, 30, 59, 60, 80), 0, [1, 0.1, 0.1, 0.01, 0.001]),
    "exponential": ("exponential", (23, 24, 48), 0, [1, 0.97, 0.97**2]),
    "warmup": ("cosine", (0, 5, 10, 50), 10, [0.2, 0.6, 1, 0.5]),
}


@pytest.mark.parametrize("name", ROWS)
def test_rates(name: str) -> None:
    decay, steps, warmup_steps, wanted = ROWS[name]
    assert rates(decay, steps, warmup_steps) == pytest.approx(wanted)


ARGUMENTS: dict[str, tuple[str, str | None, dict[str, float | bool] | str]] = {
    "default_momentum": ("momentum", None, {"momentum": 0.9}),
    "observed": ("momentum", "momentum=0.9", {"momentum": 0.9}),
    "two": ("momentum", "momentum=0.8, nesterov=true", {"momentum": 0.8, "nesterov": True}),
    "other_spelling": ("adam", "beta1=0.8,epsilon=1e-6", {"beta_1": 0.8, "epsilon": 1e-6}),
    "decay_of_rmsprop": ("rmsprop", "decay=0.95", {"rho": 0.95}),
    "none_of_sgd": ("sgd", "", {}),
    "unknown": ("adam", "momentum=0.9", "'momentum=0.9' is not NAME=VALUE with one of .*: beta_1"),
    "no_value": ("momentum", "momentum", "'momentum' is not NAME=VALUE"),
    "no_number": ("momentum", "momentum=high", "momentum is a number, not 'high'"),
    "outside": ("momentum", "momentum=1", "momentum=1 is not in \\[0, 1\\)"),
    "nan": ("adam", "epsilon=nan", "epsilon=nan is not a number from 0"),
    "no_switch": ("sgd", "nesterov=maybe", "nesterov is true or false, not 'maybe'"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_optimizer_arguments(name: str) -> None:
    kind, text, wanted = ARGUMENTS[name]
    if isinstance(wanted, dict):
        assert schedule.optimizer_arguments(kind, text) == wanted
    else:
        with pytest.raises(UserError, match=wanted):
            schedule.optimizer_arguments(kind, text)


def test_default_rate_and_averages() -> None:
    assert schedule.default_rate("momentum", 32, 0.1 / 256) == 0.0125
    assert [schedule.default_rate(kind, 32, 0.1) for kind in ("adam", "adadelta")] == [0.001, 1.0]
    assert [schedule.batch_norm_momentum(steps) for steps in (1, 40, 1000, 10**6)] == [0.5, 0.75, 0.99, 0.99]
