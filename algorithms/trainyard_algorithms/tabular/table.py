"""What trainers are given."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Column:
    """A feature. `index`: its place in the parts' files, where the target is 0; `name`: column_N, N its
    place in the user's file from 1 (for XGBoost's one-hot columns column_N=VALUE, for hashed ones
    column_N_bucket)."""

    index: int
    name: str
    kind: str  # 'numeric' or 'categorical'
    mean: float = 0.0  # of the training part; what a blank counts as
    vocabulary: tuple[str, ...] = ()
    buckets: int = 0  # 0: by vocabulary


@dataclass(frozen=True)
class Part:
    files: tuple[Path, ...]
    rows: int


@dataclass(frozen=True)
class Table:
    columns: tuple[Column, ...]
    labels: tuple[str, ...] | None  # None: regression
    parts: dict[str, Part]  # 'training', 'validation', 'test'; those that there are
    target_numbers: bool = False  # the parts' files have the label's number in place of the label
    width: int = 0  # of the parts' files, in columns with the target; 0: one more than the features
