"""LibSVM files (`label index:value ...`, optionally `qid:N`): a feature that is not named is missing.

An index counts from 0, as in XGBoost's own reader. All rows of a replica are in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from trainyard_algorithms.failure import UserError
from trainyard_algorithms.paths import shown
from trainyard_algorithms.xgb.numeric_csv import ALL, Deal

_SHOWN_MAX = 40


@dataclass(frozen=True)
class Rows:
    features: sp.csr_matrix  #: float32
    target: np.ndarray  #: float32
    groups: np.ndarray | None  #: query of each row, ascending; None: no row has one


def load(files: Sequence[Path], deal: Deal = ALL) -> Rows:
    """The files' rows that are dealt to this replica; with queries, whole queries are dealt.

    UserError: naming file and row.
    """
    parts = [part for path in files if (part := _load(path)) is not None]
    columns = max((part[0].shape[1] for part in parts), default=0)
    if not parts:
        empty = np.zeros(0, np.float32)
        return Rows(sp.csr_matrix((0, columns), dtype=np.float32), empty, None)
    features = sp.vstack([widened(part[0], columns) for part in parts], format="csr")
    target = np.concatenate([part[1] for part in parts]).astype(np.float32)
    query = np.concatenate([part[2] for part in parts])
    groups = _numbered(query) if query.any() else None
    if deal.of > 1:
        mine = (np.arange(len(target)) if groups is None else groups) % deal.of == deal.first
        features, target = features[mine], target[mine]
        groups = None if groups is None else groups[mine]
    return Rows(features, target, groups)


def widened(features: sp.csr_matrix, columns: int) -> sp.csr_matrix:
    """The same rows with `columns` features, at least as many as there are."""
    return sp.csr_matrix(
        (features.data, features.indices, features.indptr), shape=(features.shape[0], columns)
    )


def _numbered(query: np.ndarray) -> np.ndarray:
    """Queries by their place: 0 for the first run of equal ones, and so on."""
    return np.concatenate(([0], np.cumsum(query[1:] != query[:-1])))


def _load(path: Path) -> tuple[sp.csr_matrix, np.ndarray, np.ndarray] | None:
    from sklearn.datasets import load_svmlight_file

    if path.stat().st_size == 0:
        return None
    try:
        found = load_svmlight_file(str(path), zero_based=True, query_id=True, dtype=np.float32)
    except (ValueError, OverflowError) as error:
        raise UserError(_explain(path) or f"{shown(path)}: this is no LibSVM text ({error}).") from error
    features, target, query = found
    if not len(target):
        return None
    bad = np.flatnonzero(~np.isfinite(target))
    if len(bad):
        raise UserError(f"{shown(path)}: the label of row {int(bad[0]) + 1} is not a finite number.")
    if np.isinf(features.data).any():
        raise UserError(f"{shown(path)}: a value is infinite or too large (float32).")
    return features, target, query


def _explain(path: Path) -> str | None:
    """Slowly: the first row that is wrong, and how."""
    with path.open(encoding="utf-8", errors="replace") as file:
        row = 0
        for line in file:
            words = line.split("#")[0].split()
            if not words:
                continue
            row += 1
            wrong = next((word for place, word in enumerate(words) if not _is_word(word, place == 0)), None)
            if wrong is not None:
                form = "label" if wrong is words[0] else "INDEX:VALUE"
                return f"{shown(path)}, row {row}: {wrong[:_SHOWN_MAX]!r} is no {form}."
    return None


def _is_word(word: str, label: bool) -> bool:
    index, colon, value = word.partition(":")
    try:
        if label:
            float(word)
        elif colon and (index == "qid" or int(index) >= 0):
            float(value)
        else:
            return False
    except ValueError:
        return False
    return True
