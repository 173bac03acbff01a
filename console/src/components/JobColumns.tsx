import { useState } from "preact/hooks";
import { setQuery } from "../router.ts";
import { COLUMN_NAMES, columnsText, JOB_COLUMNS, type JobColumn } from "../text/job_columns.ts";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import "./JobColumns.css";

interface Props {
  readonly columns: readonly JobColumn[];
  /** Readers have names here. */
  readonly named: boolean;
}

/** Chooses the columns of the table of jobs; the choice is in the address. */
export function JobColumns({ columns, named }: Props) {
  const [open, setOpen] = useState(false);
  const toggle = (column: JobColumn) => {
    const next = columns.includes(column) ? columns.filter((one) => one !== column) : [...columns, column];
    setQuery({ cols: columnsText(next, named) });
  };
  return (
    <>
      <Button onClick={() => setOpen(true)}>Columns</Button>
      {open && (
        <Dialog title="Columns" onClose={() => setOpen(false)}>
          <div class="job-columns">
            {COLUMN_NAMES.map((column) => (
              <label key={column}>
                <input type="checkbox" checked={columns.includes(column)} onChange={() => toggle(column)} />{" "}
                {JOB_COLUMNS[column].name}
              </label>
            ))}
          </div>
          <div class="actions">
            <Button onClick={() => setQuery({ cols: null })}>The usual ones</Button>
            <Button kind="main" onClick={() => setOpen(false)}>Close</Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
