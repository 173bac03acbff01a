"""The model's files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path

import xgboost as xgb

from trainyard_algorithms.outputs import write_deployment_config


def save(booster: xgb.Booster, model: Path, labels: Mapping[str, str]) -> None:
    """Writes model.bst, model.json and deployment_config.yaml into the folder `model`.

    model.bst is in the binary form that XGBoost wrote until 2.1, which 1.1 to 3.0 load; model.json is for
    1.7 and later. Each file is there whole or not at all.
    """
    part = model / ".model.deprecated"  # this ending means the binary form
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the form is old
        with xgb.config_context(verbosity=0):
            booster.save_model(part)
    os.replace(part, model / "model.bst")
    part = model / ".model.json"
    booster.save_model(part)
    os.replace(part, model / "model.json")
    write_deployment_config(model, "XGBOOST", labels)


def labels(metrics: Mapping[str, float], rounds: int) -> dict[str, str]:
    """What deployment_config.yaml says of a model: metrics as text, accuracy in percent, the rounds."""
    found = {name: f"{value:.6f}" for name, value in metrics.items() if name != "accuracy"}
    if "accuracy" in metrics:
        found["accuracy"] = f"{100 * metrics['accuracy']:.4f}"
    return {**found, "global_step": str(rounds)}
