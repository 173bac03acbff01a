import type { TuningInsightJson } from "proto/control/v1/tuning_insight_pb";
import { percent } from "../text/format.ts";
import { Text } from "./Text.tsx";
import "./Importances.css";

/** Which parameters matter, by the tuner's own model. */
export function Importances({ insight }: { readonly insight: TuningInsightJson }) {
  const all = insight.importances ?? [];
  if (all.length === 0) return <p class="soft"><Text value={insight.note || "The tuner has no model yet."} longest={300} /></p>;
  return (
    <table class="importances">
      <tbody>
        {all.map(({ parameter = "", share = 0 }) => (
          <tr key={parameter}>
            <th scope="row"><Text value={parameter} longest={60} /></th>
            <td class="bar"><span style={{ width: `${Math.max(0.5, Number(share) * 100)}%` }} /></td>
            <td class="number">{percent(Number(share))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
