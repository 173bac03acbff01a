import { useField } from "../state/form.ts";
import { ACCELERATORS, MACHINE_TYPES, SCALE_TIERS } from "../text/new_job.ts";
import { SelectField } from "./SelectField.tsx";
import { TextField } from "./TextField.tsx";

const ROLES = [
  ["Master", "master"],
  ["Workers", "worker"],
  ["Parameter servers", "parameterServer"],
] as const;
const TIERS = [
  { value: "", name: "One machine (BASIC)" },
  ...SCALE_TIERS.map((value) => ({ value, name: value === "CUSTOM" ? "CUSTOM: machines below" : value })),
];
const TYPES = [{ value: "", name: "No accelerator" }, ...ACCELERATORS.map((value) => ({ value, name: value }))];

/** What the job runs on: a tier, or machines of each kind. */
export function MachineFields() {
  const tier = useField(["trainingInput", "scaleTier"]).text;
  return (
    <>
      <SelectField name="Machines" path={["trainingInput", "scaleTier"]} choices={TIERS} />
      <datalist id="machine-types">
        {MACHINE_TYPES.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {tier === "CUSTOM" &&
        ROLES.map(([name, role]) => (
          <fieldset key={role} class="role">
            <legend>{name}</legend>
            {role !== "master" && <TextField name="Count" path={["trainingInput", `${role}Count`]} number />}
            <TextField name="Machine" path={["trainingInput", `${role}Type`]} list="machine-types" placeholder="n1-standard-4" />
            <SelectField
              name="Accelerator"
              path={["trainingInput", `${role}Config`, "acceleratorConfig", "type"]}
              choices={TYPES}
            />
            <TextField name="Accelerators each" path={["trainingInput", `${role}Config`, "acceleratorConfig", "count"]} number />
          </fieldset>
        ))}
    </>
  );
}
