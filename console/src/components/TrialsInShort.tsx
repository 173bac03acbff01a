import type { JobJson } from "proto/ml/v1/ml_pb";
import { address } from "../text/address.ts";
import { number } from "../text/format.ts";
import { trialsInShort, valueOf } from "../text/trials_in_short.ts";
import { Link } from "./Link.tsx";
import { Meter } from "./Meter.tsx";
import { stateWord } from "./StateChip.tsx";
import { Text } from "./Text.tsx";

/** How far a tuning job is, and the best trial so far. */
export function TrialsInShort({ project, job }: { readonly project: string; readonly job: JobJson }) {
  const { counts, ended, wanted, best } = trialsInShort(job);
  const base = address`/p/${project}/jobs/${job.jobId ?? ""}/trials`;
  const tag =
    job.trainingOutput?.hyperparameterMetricTag ?? job.trainingInput?.hyperparameters?.hyperparameterMetricTag ?? "metric";
  return (
    <section class="panel">
      <div class="head spread">
        <h2>Trials</h2>
        <Link to={base}>All trials</Link>
      </div>
      <div class="body stack" style={{ gap: "8px" }}>
        <p>
          {ended} of {wanted} ended
          <span class="soft">
            {" "}
            · {counts.map(([state, count]) => `${count} ${stateWord(state).toLowerCase()}`).join(", ") || "none has begun"}
          </span>
        </p>
        <Meter label="Trials that ended" share={wanted > 0 ? ended / wanted : 0} />
        {best && (
          <p>
            Best:{" "}
            <Link to={address`/p/${project}/jobs/${job.jobId ?? ""}/trials/${best.trialId ?? ""}`}>
              trial <Text value={best.trialId} longest={20} />
            </Link>
            {", "}
            <Text value={tag} longest={60} class="soft" /> <b>{number(valueOf(best) ?? 0)}</b>
            <span class="soft">
              {" "}
              with <Text value={parameters(best.hyperparameters)} longest={300} />
            </span>
          </p>
        )}
      </div>
    </section>
  );
}

function parameters(values: Record<string, string> | undefined): string {
  const shown = (text: string) => (text.trim() !== "" && Number.isFinite(Number(text)) ? number(Number(text)) : text);
  return Object.entries(values ?? {})
    .map(([name, value]) => `${name} = ${shown(value)}`)
    .join(", ");
}
