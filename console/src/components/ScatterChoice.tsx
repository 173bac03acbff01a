import { setQuery, usePlace } from "../router.ts";
import type { ParameterAxis } from "../text/parameter_axis.ts";
import { cut, visible } from "../text/plain.ts";
import type { Trial } from "../text/trials.ts";
import { TrialScatter } from "./TrialScatter.tsx";

interface Props {
  /** Parameters, and the metric at the end. */
  readonly axes: readonly ParameterAxis[];
  readonly trials: readonly Trial[];
  readonly shown: ReadonlySet<string>;
  readonly best: string | undefined;
  readonly onOpen: (trial: string) => void;
}

/** Trials by any two axes, which the reader picks. */
export function ScatterChoice({ axes, ...drawn }: Props) {
  const { query } = usePlace();
  const metric = axes.at(-1);
  const x = axes.find((axis) => axis.key === query.get("sx")) ?? axes[0];
  const y = axes.find((axis) => axis.key === query.get("sy")) ?? metric;
  if (metric === undefined || x === undefined || y === undefined) return null;
  const choice = (label: string, parameter: "sx" | "sy", value: ParameterAxis) => (
    <select class="field" aria-label={label} value={value.key}
            onChange={(event) => setQuery({ [parameter]: event.currentTarget.value })}>
      {axes.map((axis) => <option key={axis.key} value={axis.key}>{visible(cut(axis.name, 60))}</option>)}
    </select>
  );
  return (
    <section class="panel" aria-label="Scatter">
      <div class="head spread">
        <h2>Scatter plot</h2>
        <span class="row">{choice("Upwards", "sy", y)}<span class="soft">by</span>{choice("Along", "sx", x)}</span>
      </div>
      <div class="body"><TrialScatter x={x} y={y} metric={metric} {...drawn} /></div>
    </section>
  );
}
