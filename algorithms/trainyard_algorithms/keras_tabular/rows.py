"""The rows of a part as batches without blanks; a part that is read again and again is kept if it fits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trainyard_algorithms.tabular.batches import Batch, batches, joined
from trainyard_algorithms.tabular.prepare import Table

CELLS_IN_MEMORY = 64 * 1024 * 1024  # of four bytes, for one part
ROWS_A_READ = 8192


class Rows:
    """A part's rows."""

    def __init__(
        self, table: Table, part: str, keep: bool = False, cells_in_memory: int = CELLS_IN_MEMORY
    ) -> None:
        """@param keep the part will be read by once() several times"""
        self._table = table
        self._part = part
        self.count = table.parts[part].rows if part in table.parts else 0
        self._means = np.array([each.mean for each in table.columns if each.kind == "numeric"], np.float32)
        self._keep = keep and self.count * (len(table.columns) + 1) <= cells_in_memory
        self._kept: Batch | None = None

    def once(self, rows: int) -> Iterator[Batch]:
        """Every row once, in the file's order; the last batch may be shorter."""
        if self.count == 0:
            return
        if not self._keep:
            yield from map(self._filled, batches(self._table, self._part, rows))
            return
        if self._kept is None:
            self._kept = self._filled(joined(list(batches(self._table, self._part, ROWS_A_READ))))
        for first in range(0, len(self._kept), rows):
            yield self._kept.take(slice(first, first + rows))

    def shuffled(self, rows: int, seed: int) -> Iterator[Batch]:
        """Batches of exactly `rows` rows without end; one may hold the end of a pass and the start of the
        next."""
        return map(self._filled, batches(self._table, self._part, rows, shuffle_seed=seed, repeat=True))

    def _filled(self, batch: Batch) -> Batch:
        """Blanks become the column's mean, as in processed_data/ and in the SavedModel."""
        blank = np.isnan(batch.numeric)
        if not blank.any():
            return batch
        return Batch(np.where(blank, self._means, batch.numeric), batch.categorical, batch.target)
