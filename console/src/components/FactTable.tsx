import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./Button.tsx";
import "./FactTable.css";

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** To the right. */
  readonly number?: boolean;
  /** Sentences: over several lines. */
  readonly wrap?: boolean;
}

interface Props<Row> {
  readonly label: string;
  /** The first one names the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly id: (row: Row) => string;
  /** Rows at first; the rest behind a button. */
  readonly first?: number;
}

/** A small table; on narrow screens each row is a card. Columns in which no row has anything are left out. */
export function FactTable<Row>({ label, columns, rows, id, first = 50 }: Props<Row>) {
  const [count, setCount] = useState(first);
  const rest = rows.length - count;
  const cells = rows.slice(0, count).map((row) => ({ row, contents: columns.map(({ cell }) => cell(row)) }));
  const used = columns.map((_, at) => cells.some(({ contents }) => !isEmpty(contents[at])));
  const shown = columns.map((column, at) => ({ ...column, at })).filter(({ at }) => used[at]);
  return (
    <div class="fact-table" role="region" aria-label={label} tabIndex={0}>
      <table aria-label={label}>
        <thead>
          <tr>
            {shown.map(({ name, number }) => (
              <th key={name} scope="col" class={number ? "number" : ""}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cells.map(({ row, contents }) => (
            <tr key={id(row)}>
              {shown.map(({ name, number, wrap, at }) => (
                <td
                  key={name}
                  class={`${at === 0 ? "title" : ""}${number ? " number" : ""}${wrap ? " wrap" : ""}`}
                  data-name={name}
                  data-empty={isEmpty(contents[at]) ? "" : undefined}
                >
                  {contents[at]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rest > 0 && (
        <Button kind="quiet" onClick={() => setCount(count + 500)}>
          Show {Math.min(rest, 500).toLocaleString("en-US")} more
        </Button>
      )}
    </div>
  );
}

function isEmpty(content: ComponentChildren): boolean {
  return content === "" || content === null || content === undefined;
}
