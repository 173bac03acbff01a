import type { RuntimeListJson } from "proto/control/v1/runtimes_pb";
import { useContext, useState } from "preact/hooks";
import { paths } from "../api/paths.ts";
import { useJson } from "../api/use.ts";
import { FormContext, useField } from "../state/form.ts";
import { ALGORITHM_IMAGES, ALGORITHMS, kindOf, labelsOf, type ProgramKind, withTuning } from "../text/new_job.ts";
import { treeAt, withField } from "../text/yaml_edit.ts";
import { Button } from "./Button.tsx";
import { FormField } from "./FormField.tsx";
import { KindChoice } from "./KindChoice.tsx";
import { LinesField } from "./LinesField.tsx";
import { MachineFields } from "./MachineFields.tsx";
import { PackageUpload } from "./PackageUpload.tsx";
import { ProgramUpload } from "./ProgramUpload.tsx";
import { SelectField } from "./SelectField.tsx";
import { TextField } from "./TextField.tsx";
import "./JobForm.css";

const IMAGE = ["trainingInput", "masterConfig", "imageUri"];
const ALGORITHM_CHOICES = ALGORITHMS.map((name) => ({ value: `${ALGORITHM_IMAGES}${name}:latest`, name }));

/** The usual fields of a job; the others are in the YAML alone. */
export function JobForm({ project, disabled }: { readonly project: string; readonly disabled: boolean }) {
  const form = useContext(FormContext);
  const [chosen, setChosen] = useState<ProgramKind>(); // while the YAML does not say it
  const kind = kindOf(form.tree) ?? chosen ?? "package";
  return (
    <fieldset class="job-form" disabled={disabled} aria-label="The usual fields">
      <TextField name="Job id" path={["jobId"]} hint="Letters, digits and _; new in its project." />
      <KindChoice kind={kind} onChange={setChosen} />
      {kind === "package" && (
        <>
          <ProgramUpload project={project} />
          <TextField
            name="Packages"
            path={["trainingInput", "packageUris"]}
            lines
            placeholder="gs://bucket/trainer-0.1.tar.gz"
            hint="In a bucket, one a line."
          />
          <PackageUpload project={project} />
          <div class="pair">
            <TextField name="Module" path={["trainingInput", "pythonModule"]} placeholder="trainer.task" />
            <RuntimeField />
          </div>
        </>
      )}
      {kind === "container" && <TextField name="Image" path={IMAGE} placeholder="registry.example/trainer:1" />}
      {kind === "algorithm" && <SelectField name="Algorithm" path={IMAGE} choices={ALGORITHM_CHOICES} />}
      <TextField
        name="Arguments"
        path={["trainingInput", "args"]}
        lines
        placeholder="--epochs=10"
        hint="One argument per line"
      />
      <MachineFields />
      <div class="pair">
        <TextField name="Region" path={["trainingInput", "region"]} />
        <TextField name="Job folder" path={["trainingInput", "jobDir"]} placeholder="gs://bucket/folder" />
      </div>
      <LabelsField />
      <WebAccess />
      {!treeAt(form.tree, ["trainingInput", "hyperparameters"]) && (
        <div>
          <Button onClick={() => form.change(withTuning(form.text))}>Add tuning of hyperparameters</Button>
        </div>
      )}
    </fieldset>
  );
}

function RuntimeField() {
  const runtimes = useJson<RuntimeListJson>(paths.runtimes()).data?.runtimes ?? [];
  const usable = runtimes.filter(({ state }) => !/^needs/.test(state ?? ""));
  const standard = usable.find(({ isDefault }) => isDefault)?.version;
  const choices = usable.map(({ version = "", state }) => ({
    value: version,
    name: /^built/.test(state ?? "") ? version : `${version} (${state})`,
  }));
  return (
    <SelectField
      name="Runtime version"
      path={["trainingInput", "runtimeVersion"]}
      choices={[{ value: "", name: `The default${standard ? `: ${standard}` : ""}` }, ...choices]}
    />
  );
}

function LabelsField() {
  const form = useContext(FormContext);
  const { problems } = useField(["labels"]);
  const tree = treeAt(form.tree, ["labels"]);
  const values =
    tree?.kind === "map" ? tree.entries.map(({ key, value }) => (value.kind === "text" ? `${key}=${value.text}` : key)) : [];
  const change = (lines: string[]) => {
    const labels = labelsOf(lines);
    form.change(withField(form.text, ["labels"], Object.keys(labels).length > 0 ? labels : undefined));
  };
  return (
    <FormField name="Labels" problems={problems}>
      {(control) => <LinesField control={control} values={values} placeholder="team=vision" onChange={change} />}
    </FormField>
  );
}

function WebAccess() {
  const field = useField(["trainingInput", "enableWebAccess"]);
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={/^(true|yes|on)$/i.test(field.text)}
        onChange={(event) => field.set(event.currentTarget.checked ? true : "")}
      />
      Shells in its replicas (web access)
    </label>
  );
}
