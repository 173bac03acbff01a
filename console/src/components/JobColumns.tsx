import { useState } from "preact/hooks";
import { setQuery } from "../router.ts";
import { COLUMN_NAMES, columnName, columnsText, isOwn, type JobColumn, type OwnColumn } from "../text/job_columns.ts";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { Icon } from "./Icon.tsx";
import { Text } from "./Text.tsx";
import "./JobColumns.css";

interface Props {
  readonly columns: readonly JobColumn[];
  /** Readers have names here. */
  readonly named: boolean;
  /** What the jobs' programs were given and measured: each may be a column. */
  readonly own?: readonly OwnColumn[];
  /** Asks for what is in `own`. */
  readonly onOpen?: () => void;
}

/** Chooses the columns of the table of jobs; the choice is in the address. */
export function JobColumns({ columns, named, own = [], onOpen }: Props) {
  const [open, setOpen] = useState(false);
  const toggle = (column: JobColumn) => {
    const next = columns.includes(column) ? columns.filter((one) => one !== column) : [...columns, column];
    setQuery({ cols: columnsText(next, named) });
  };
  const show = () => {
    setOpen(true);
    onOpen?.();
  };
  const offered = (kind: "p:" | "m:") => [...new Set([...own, ...columns.filter(isOwn)])].filter((column) => column.startsWith(kind)).sort();
  const choice = (column: JobColumn) => (
    <label key={column}>
      <input type="checkbox" checked={columns.includes(column)} onChange={() => toggle(column)} />{" "}
      <Text value={columnName(column)} longest={60} />
    </label>
  );
  return (
    <>
      <Button onClick={show}><Icon name="columns" /> Columns</Button>
      {open && (
        <Dialog title="Columns" onClose={() => setOpen(false)}>
          <div class="job-columns">{COLUMN_NAMES.map(choice)}</div>
          {(["p:", "m:"] as const).map((kind) => offered(kind).length > 0 && (
            <fieldset key={kind}>
              <legend>{kind === "p:" ? "Parameters of the programs" : "Last values of curves"}</legend>
              <div class="job-columns">{offered(kind).map(choice)}</div>
            </fieldset>
          ))}
          <div class="actions">
            <Button onClick={() => setQuery({ cols: null })}>The usual ones</Button>
            <Button kind="main" onClick={() => setOpen(false)}>Close</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
