"""Rows as pandas' table where pandas is installed, else as one that prints itself."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Dict, List, Sequence, Union

Row = Dict[str, Any]


class Table(List[Row]):
    """A list of rows that a terminal and a notebook show as a table."""

    def __init__(self, rows: Sequence[Row], columns: Sequence[str]) -> None:
        super().__init__(rows)
        self.columns = list(columns)

    def _cells(self) -> List[List[str]]:
        return [[_text(row.get(column)) for column in self.columns] for row in self]

    def __repr__(self) -> str:
        lines = [self.columns, *self._cells()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        def row(tag: str, cells: Sequence[str]) -> str:
            return "<tr>" + "".join("<%s>%s</%s>" % (tag, html.escape(cell), tag) for cell in cells) + "</tr>"
        return "<table>" + row("th", self.columns) + "".join(row("td", cells) for cells in self._cells()) + "</table>"


def _text(value: Any) -> str:
    return "" if value is None else str(value)


if TYPE_CHECKING:
    import pandas
    TableLike = Union["pandas.DataFrame", Table]
else:
    TableLike = object


def make_table(rows: Sequence[Row], columns: Sequence[str]) -> "TableLike":
    """A pandas.DataFrame, or a Table without pandas."""
    try:
        import pandas
    except ImportError:
        return Table(rows, columns)
    return pandas.DataFrame(list(rows), columns=list(columns))
