"""The rows of a part, as batches: from memory if they fit, else from the file each time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trainyard_algorithms.tabular import batches as tabular
from trainyard_algorithms.tabular.batches import Batch
from trainyard_algorithms.tabular.prepare import Table

CELLS_IN_MEMORY = 64 * 1024 * 1024  # of four bytes, for one part
ROWS_A_READ = 8192


def joined(parts: list[Batch]) -> Batch:
    return Batch(
        np.concatenate([part.numeric for part in parts]),
        np.concatenate([part.categorical for part in parts]),
        np.concatenate([part.target for part in parts]),
    )


def taken(batch: Batch, which: np.ndarray | slice) -> Batch:
    return Batch(batch.numeric[which], batch.categorical[which], batch.target[which])


class Rows:
    """A part's rows. Reads the file once where the part fits into memory (CELLS_IN_MEMORY)."""

    def __init__(self, table: Table, part: str, cells_in_memory: int = CELLS_IN_MEMORY) -> None:
        self._table = table
        self._part = part
        self._kept: Batch | None = None
        self.count = table.parts[part].rows if part in table.parts else 0
        self._keep = self.count * (len(table.columns) + 1) <= cells_in_memory

    @property
    def in_memory(self) -> bool:
        return self._keep

    def _all(self) -> Batch:
        if self._kept is None:
            self._kept = joined(list(tabular.batches(self._table, self._part, ROWS_A_READ)))
        return self._kept

    def once(self, rows: int) -> Iterator[Batch]:
        """Every row once, in the file's order; the last batch may be shorter."""
        if self.count == 0:
            return
        if not self._keep:
            yield from tabular.batches(self._table, self._part, rows)
            return
        kept = self._all()
        for first in range(0, len(kept.target), rows):
            yield taken(kept, slice(first, first + rows))

    def shuffled(self, rows: int, seed: int) -> Iterator[Batch]:
        """Batches of exactly `rows` rows without end; a batch may hold the end of one pass and the start of the next."""
        if self._keep:
            yield from self._permuted(rows, seed)
            return
        rest: list[Batch] = []
        waiting = 0
        for batch in tabular.batches(self._table, self._part, rows, shuffle_seed=seed, repeat=True):
            if not rest and len(batch.target) == rows:
                yield batch
                continue
            rest.append(batch)
            waiting += len(batch.target)
            while waiting >= rows:
                whole = joined(rest)
                yield taken(whole, slice(0, rows))
                rest = [taken(whole, slice(rows, None))]
                waiting -= rows
            if waiting == 0:
                rest = []

    def _permuted(self, rows: int, seed: int) -> Iterator[Batch]:
        kept = self._all()
        random = np.random.default_rng(seed)
        order = np.empty(0, dtype=np.int64)
        while True:
            while len(order) < rows:
                order = np.concatenate([order, random.permutation(len(kept.target))])
            yield taken(kept, order[:rows])
            order = order[rows:]
