"""Data as XGBoost's matrices: bins, made block by block, where the method allows it; else all in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xgboost as xgb

from trainyard_algorithms.failure import leave_if_told
from trainyard_algorithms.xgb.numeric_csv import Chunk
from trainyard_algorithms.xgb.parameters import Settings

_VALUES_A_BLOCK = 16 << 20  # 64 MiB of float32
_ROWS_A_BLOCK_MAX = 1 << 16
_ROWS_A_BLOCK_MIN = 256


def rows_a_block(columns: int) -> int:
    """How many rows to read at a time, so that a block is about 64 MiB."""
    return max(_ROWS_A_BLOCK_MIN, min(_ROWS_A_BLOCK_MAX, _VALUES_A_BLOCK // max(columns, 1)))


class _Blocks(xgb.DataIter):
    """Blocks of rows for QuantileDMatrix, which goes through them several times."""

    def __init__(self, start: Callable[[], Iterator[Chunk]]) -> None:
        self._start = start
        self._blocks = start()
        super().__init__()

    def reset(self) -> None:
        self._blocks = self._start()

    def next(self, input_data: Callable[..., None]) -> int:
        leave_if_told()
        block = next(self._blocks, None)
        if block is None:
            return 0
        input_data(data=block[0], label=block[1])
        return 1


def of_blocks(
    start: Callable[[], Iterator[Chunk]], columns: int, settings: Settings, like: xgb.DMatrix | None = None
) -> xgb.DMatrix:
    """A matrix of the blocks that each call of `start` gives anew.

    `like`: the training matrix, whose bins a validation matrix has. A UserError of `start` passes.
    """
    first = next(start(), None)
    if first is None:
        return of_rows(np.empty((0, columns), np.float32), np.empty(0, np.float32), settings, like)
    if settings.bins:
        return xgb.QuantileDMatrix(_Blocks(start), ref=like, **_options(settings))
    features, target = zip(*start())
    return xgb.DMatrix(_stacked(features, columns), np.concatenate(target), **_threads(settings))


def of_rows(
    features: Any, target: np.ndarray, settings: Settings, like: xgb.DMatrix | None = None, groups: Any = None
) -> xgb.DMatrix:
    """A matrix of rows in memory, an array or a sparse one."""
    if settings.bins:
        return xgb.QuantileDMatrix(features, target, qid=groups, ref=like, **_options(settings))
    return xgb.DMatrix(features, target, qid=groups, **_threads(settings))


def _stacked(blocks: tuple[np.ndarray, ...], columns: int) -> np.ndarray:
    whole = np.empty((sum(len(block) for block in blocks), columns), np.float32)
    at = 0
    for block in blocks:
        whole[at : at + len(block)] = block
        at += len(block)
    return whole


def _options(settings: Settings) -> dict[str, Any]:
    return {"max_bin": settings.params.get("max_bin", 256), **_threads(settings)}


def _threads(settings: Settings) -> dict[str, Any]:
    return {"nthread": settings.params["nthread"]} if "nthread" in settings.params else {}
