import type { JobJson } from "proto/ml/v1/ml_pb";
import { useMemo, useRef, useState } from "preact/hooks";
import { type ApiError, sendJson } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { asApiError } from "../api/use.ts";
import { Button } from "../components/Button.tsx";
import { Confirm } from "../components/Confirm.tsx";
import { JobForm } from "../components/JobForm.tsx";
import { JobProblems } from "../components/JobProblems.tsx";
import { Link } from "../components/Link.tsx";
import { Failure, Loading } from "../components/Notices.tsx";
import { Text } from "../components/Text.tsx";
import { goToLine, YamlEditor } from "../components/YamlEditor.tsx";
import { go, usePlace, type PageProps } from "../router.ts";
import { type Draft, useDraft } from "../state/draft.ts";
import { FormContext } from "../state/form.ts";
import { problemOf, said, useJobCheck } from "../state/job_check.ts";
import { rememberProject } from "../state/session.ts";
import { address } from "../text/address.ts";
import { readJob } from "../text/job_yaml.ts";
import { parseYaml } from "../text/yaml_tree.ts";
import "./NewJobPage.css";

/** A new job, empty or like another one: a form and the YAML, which are one text. */
export function NewJobPage({ project = "" }: PageProps) {
  const { query } = usePlace();
  const from = query.get("from") ?? "";
  const draft = useDraft(project, from, query.get("shells") === "1");
  const [asked, setAsked] = useState(false);
  return (
    <div class="stack">
      <div class="spread">
        <h1>
          New job
          {from !== "" && (
            <>
              {" "}
              like{" "}
              <Link to={address`/p/${project}/jobs/${from}`}>
                <Text value={from} longest={128} />
              </Link>
            </>
          )}
        </h1>
        {draft.changed && (
          <Button kind="quiet" onClick={() => setAsked(true)}>
            Begin anew
          </Button>
        )}
      </div>
      {asked && (
        <Confirm
          title="Discard what was written here?"
          verb="Discard"
          onClose={() => setAsked(false)}
          act={async () => draft.reset()}
        >
          The form and the YAML begin again {from === "" ? "as those of an empty job." : "as those of the job that is cloned."}
        </Confirm>
      )}
      {draft.source.error && draft.text === undefined && <Failure error={draft.source.error} retry={draft.source.reload} />}
      {draft.text !== undefined ? (
        <Editor key={from} project={project} text={draft.text} draft={draft} empty={from === "" && !draft.changed} />
      ) : (
        !draft.source.error && <Loading lines={8} />
      )}
    </div>
  );
}

interface EditorProps {
  readonly project: string;
  readonly text: string;
  readonly draft: Draft;
  /** It was not made of another job, and nobody wrote anything yet. */
  readonly empty: boolean;
}

function Editor({ project, text, draft, empty }: EditorProps) {
  const read = useMemo(() => readJob(text), [text]);
  const check = useJobCheck(project, read, text);
  const [refused, setRefused] = useState<{ text: string; error: ApiError }>();
  const [busy, setBusy] = useState(false);
  /** Only an empty job is not wrong yet. */
  const [touched, setTouched] = useState<"all" | readonly (readonly string[])[]>(empty ? [] : "all");
  const input = useRef<HTMLTextAreaElement>(null);
  const own = refused?.text === text ? [problemOf(read, refused.error.field, refused.error.message)] : [];
  const all = [...own, ...check.problems.filter((problem) => !own.some((one) => one.field === problem.field))];
  const problems = touched === "all" ? all : said(all, touched);
  const submit = () => {
    setBusy(true);
    setTouched("all");
    sendJson<JobJson>("POST", paths.jobs(project), read.job).then(
      (job) => {
        draft.reset();
        rememberProject(project);
        go(address`/p/${project}/jobs/${job.jobId ?? ""}`);
      },
      (reason: unknown) => {
        setRefused({ text, error: asApiError(reason) });
        setBusy(false);
      },
    );
  };
  const touch = (path: readonly string[]) => setTouched((before) => (before === "all" ? before : [...before, path]));
  const form = { text, tree: read.tree ?? EMPTY, problems, change: draft.set, touch };
  return (
    <form class="new-job" onSubmit={(event) => event.preventDefault()} aria-label="New job">
      <FormContext.Provider value={form}>
        <JobForm project={project} disabled={read.error !== undefined} />
      </FormContext.Provider>
      <div class="yaml stack">
        <YamlEditor
          value={text}
          onChange={(written) => {
            setTouched("all");
            draft.set(written);
          }}
          input={input}
          bad={new Set(problems.flatMap(({ line }) => (line === undefined ? [] : [line])))}
        />
        <JobProblems problems={problems} unsaid={all.length - problems.length} check={check} goTo={(line) => input.current && goToLine(input.current, line)} />
        <div class="row">
          <Button kind="main" onClick={submit} disabled={busy || read.error !== undefined}>
            {busy ? "Submitting…" : "Submit"}
          </Button>
          <span class="soft">
            to <Text value={project} longest={80} />
          </span>
        </div>
      </div>
    </form>
  );
}

const EMPTY = parseYaml("");
