import type { ComponentChildren } from "preact";
import type { Table } from "../../text/preview.ts";
import { Text } from "../Text.tsx";

/** The beginning of a CSV file as a table. */
export function TablePreview({ table, head }: { readonly table: Table; readonly head: ComponentChildren }) {
  const [names = [], ...rows] = table.rows;
  return (
    <div class="stack">
      <div class="row">
        {head}
        {table.more && <span class="soft">The first {rows.length} rows and {names.length} columns. Download it for all.</span>}
      </div>
      <div class="preview-table" tabIndex={0} role="region" aria-label="Table">
        <table>
          <thead>
            <tr>{names.map((name, at) => <th key={at} scope="col"><Text value={name} longest={100} /></th>)}</tr>
          </thead>
          <tbody>
            {rows.map((row, line) => (
              <tr key={line}>{row.map((cell, at) => <td key={at}><Text value={cell} longest={200} /></td>)}</tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
