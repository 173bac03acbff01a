import { useContext, useState } from "preact/hooks";
import type { ApiError } from "../api/http.ts";
import { asApiError } from "../api/use.ts";
import { FormContext } from "../state/form.ts";
import { ownRunsBucket, uploadToRuns } from "../state/runs.ts";
import { bytes, count } from "../text/format.ts";
import { freshId } from "../text/new_job.ts";
import { type Chosen, packProgram, type Plan, planProgram } from "../text/program.ts";
import { PROGRAM_MODULE } from "../text/wheel.ts";
import { textAt, withField } from "../text/yaml_edit.ts";
import type { Json } from "../text/yaml.ts";
import { Failure } from "./Notices.tsx";
import { Text } from "./Text.tsx";
import "./PackageUpload.css";

interface LocalFile extends Chosen {
  readonly file: File;
}

interface Choice {
  readonly plan: Plan<LocalFile>;
  /** Of a folder that is a package; else empty. */
  readonly folder: string;
  readonly program: string;
}

/** Sends a program, a notebook or a folder of this computer as `trainyard run` does, and fills in the job's fields. */
export function ProgramUpload({ project }: { readonly project: string }) {
  const form = useContext(FormContext);
  const [choice, setChoice] = useState<Choice>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const send = async (next: Choice) => {
    const contents = new Map<string, Uint8Array>();
    for (const { path, file } of next.plan.files) contents.set(path, new Uint8Array(await file.arrayBuffer()));
    const { wheel, runtime, name } = packProgram(contents, next.program, next.folder);
    const old = textAt(form.tree, ["jobId"]);
    const jobId = old === "" || /_\d{8}_\d{6}$/.test(old) ? freshId(new Date(), nameOf(name)) : old;
    const uri = await uploadToRuns(project, `${jobId}/packages/${wheel.name}`, "application/zip", wheel.bytes);
    const fields: [string[], Json | undefined][] = [
      [["jobId"], jobId],
      [["trainingInput", "packageUris"], [uri]],
      [["trainingInput", "pythonModule"], PROGRAM_MODULE],
      [["trainingInput", "runtimeVersion"], runtime === "" ? undefined : runtime],
      [["trainingInput", "jobDir"], `gs://${ownRunsBucket(project)}/${jobId}`],
      [["trainingInput", "jobDirAsVariable"], true],
    ];
    form.change(fields.reduce((text, [path, value]) => withField(text, path, value), form.text));
    setChoice(next);
  };
  const act = (work: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    work()
      .catch((reason: unknown) => setError(asApiError(reason)))
      .finally(() => setBusy(false));
  };
  const chosen = (event: Event) => {
    const input = event.currentTarget as HTMLInputElement;
    const files = [...(input.files ?? [])].map((file) => ({ path: pathOf(file), size: file.size, file }));
    const top = (files[0]?.file.webkitRelativePath || "").split("/")[0] ?? "";
    input.value = "";
    if (files.length === 0) return;
    act(async () => {
      const plan = planProgram(files);
      await send({ plan, folder: plan.isPackage ? top : "", program: plan.programs[0] ?? "" });
    });
  };
  return (
    <div class="package-upload">
      <label class="button">
        Choose a program or notebook…
        <input class="hidden-text" type="file" multiple disabled={busy} onChange={chosen} />
      </label>
      <label class="button">
        Choose a folder…
        <input class="hidden-text" type="file" disabled={busy} onChange={chosen} {...{ webkitdirectory: true }} />
      </label>
      {busy && (
        <span role="status" class="soft">
          Sending…
        </span>
      )}
      {!busy && choice === undefined && <span class="soft">With the modules and data that it needs; as “trainyard run” does.</span>}
      {!busy && choice !== undefined && <Sent choice={choice} change={(program) => act(() => send({ ...choice, program }))} />}
      {error && <Failure error={error} />}
    </div>
  );
}

function Sent({ choice, change }: { readonly choice: Choice; readonly change: (program: string) => void }) {
  const { plan, program } = choice;
  const size = plan.files.reduce((sum, file) => sum + file.size, 0);
  return (
    <>
      {plan.programs.length > 1 ? (
        <label>
          Program{" "}
          <select class="field" value={program} onChange={(event) => change(event.currentTarget.value)}>
            {plan.programs.map((path) => (
              <option key={path} value={path}>
                {path}
              </option>
            ))}
          </select>
        </label>
      ) : (
        <Text value={program} longest={80} />
      )}
      <span role="status" class="soft">
        {count(plan.files.length, "file")}, {bytes(size)}
      </span>
      {plan.leftBehind.length > 0 && (
        <p class="soft">
          Not sent, because the data is too large:{" "}
          <Text value={plan.leftBehind.slice(0, NAMED_MAX).map(({ path, size: big }) => `${path} (${bytes(big)})`).join(", ")} longest={300} />
          {plan.leftBehind.length > NAMED_MAX && ` and ${plan.leftBehind.length - NAMED_MAX} more`}. Upload it in Buckets, and read it as
          /gcs/BUCKET/NAME.
        </p>
      )}
    </>
  );
}

const NAMED_MAX = 5;

/** Below the folder that was chosen. */
function pathOf(file: File): string {
  return (file.webkitRelativePath || file.name).replace(/^[^/]*\//, "");
}

/** Letters, digits and underscores, as a job's id begins. */
function nameOf(program: string): string {
  const name = program.slice(0, 60).replaceAll(/\W/g, "_");
  return /^[A-Za-z]/.test(name) ? name : `job_${name}`;
}
