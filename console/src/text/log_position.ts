// Where in a list of rows the reader is. Pure. Rows may have different heights, and there may be more of them than a
// browser can scroll over, so a position is a row and pixels of it, and the scroll bar only stands for it.

/** The row at the upper edge, and how many of its pixels are above the edge. */
export interface Spot {
  readonly row: number;
  readonly offset: number;
}

type HeightOf = (row: number) => number;

/** Chromium cuts heights at 33,554,428 px; this leaves room. */
export const BAR_LONGEST = 8_000_000;

export const TOP: Spot = { row: 0, offset: 0 };

export function compare(one: Spot, other: Spot): number {
  return one.row - other.row || one.offset - other.offset;
}

/** Where the last row ends at the lower edge; the top, if all rows are in view. */
export function lastSpot(rows: number, view: number, heightOf: HeightOf): Spot {
  let rest = view;
  for (let row = rows - 1; row >= 0; row -= 1) {
    rest -= heightOf(row);
    if (rest <= 0) return { row, offset: 0 - rest };
  }
  return TOP;
}

/** So many pixels further, at most to `last`. */
export function moved(spot: Spot, pixels: number, last: Spot, heightOf: HeightOf): Spot {
  let row = spot.row;
  let offset = spot.offset + pixels;
  while (offset < 0 && row > 0) {
    row -= 1;
    offset += heightOf(row);
  }
  while (row < last.row && offset >= heightOf(row)) {
    offset -= heightOf(row);
    row += 1;
  }
  return limited({ row, offset: Math.max(offset, 0) }, last);
}

export function limited(spot: Spot, last: Spot): Spot {
  if (spot.row < 0) return TOP;
  return compare(spot, last) > 0 ? last : spot;
}

/** The spot that has a row at a share of the view's height: 0.5 is the middle. */
export function spotFor(row: number, share: number, view: number, last: Spot, heightOf: HeightOf): Spot {
  return moved({ row: Math.min(Math.max(row, 0), last.row + view), offset: 0 }, -share * view, last, heightOf);
}

const rowsUpTo = ({ row, offset }: Spot, heightOf: HeightOf) => row + (offset === 0 ? 0 : offset / Math.max(heightOf(row), 1));

/** How far through the list: 0 to 1. */
export function shareOf(spot: Spot, last: Spot, heightOf: HeightOf): number {
  const all = rowsUpTo(last, heightOf);
  return all === 0 ? 0 : Math.min(rowsUpTo(spot, heightOf) / all, 1);
}

export function spotAtShare(share: number, last: Spot, heightOf: HeightOf): Spot {
  if (share >= 1) return last;
  const rows = Math.max(share, 0) * rowsUpTo(last, heightOf);
  const row = Math.floor(rows);
  return limited({ row, offset: (rows - row) * heightOf(row) }, last);
}
