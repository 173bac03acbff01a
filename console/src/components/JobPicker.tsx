import type { JobRowsJson } from "proto/control/v1/job_rows_pb";
import { useEffect, useRef, useState } from "preact/hooks";
import { withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { useJson } from "../api/use.ts";
import { address } from "../text/address.ts";
import { cut, visible } from "../text/plain.ts";
import { Button } from "./Button.tsx";
import { Link } from "./Link.tsx";
import { Text } from "./Text.tsx";
import "./JobPicker.css";

interface Props {
  readonly project: string;
  readonly jobs: readonly string[];
  readonly onChange: (jobs: readonly string[]) => void;
}

const OFFERED = 100;

/** The jobs that are compared: each can be taken away, others added by name. */
export function JobPicker({ project, jobs, onChange }: Props) {
  const [text, setText] = useState("");
  const form = useRef<HTMLFormElement>(null);
  const newest = useJson<JobRowsJson>(withQuery(paths.jobRows(project), { pageSize: OFFERED }));
  const add = (event: Event) => {
    event.preventDefault();
    const name = text.trim();
    if (name !== "" && !jobs.includes(name)) onChange([...jobs, name]);
    setText("");
  };
  const [removed, setRemoved] = useState<number>();
  useEffect(() => {
    if (removed === undefined) return;
    setRemoved(undefined);
    const rest = form.current?.querySelectorAll<HTMLElement>(".picked button, input");
    rest?.item(Math.min(removed, rest.length - 1)).focus(); // its own button is gone
  }, [jobs.join()]);
  const remove = (job: string) => {
    setRemoved(jobs.indexOf(job));
    onChange(jobs.filter((one) => one !== job));
  };
  return (
    <form class="row job-picker" onSubmit={add} ref={form}>
      {jobs.map((job) => (
        <span key={job} class="picked">
          <Link to={address`/p/${project}/jobs/${job}`}><Text value={job} longest={60} /></Link>
          <Button kind="quiet" label={`Take ${visible(cut(job, 60))} away`} onClick={() => remove(job)}>
            ✕
          </Button>
        </span>
      ))}
      <input class="field mono" type="text" aria-label="Add a job" placeholder="add a job" list="picker-jobs" autocomplete="off"
             spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <datalist id="picker-jobs">
        {(newest.data?.jobs ?? [])
          .filter((row) => !jobs.includes(row.jobId ?? ""))
          .map((row) => <option key={row.jobId} value={row.jobId} />)}
      </datalist>
      <Button type="submit" disabled={text.trim() === ""}>Add</Button>
    </form>
  );
}
