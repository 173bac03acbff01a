import type { MachineHistoryJson } from "proto/control/v1/machine_pb";
import { clock, num, number, percent, time } from "../text/format.ts";
import { areaPath, hourMarks, meanAndPeak, thinned } from "../text/use_strip.ts";
import "./UseStrip.css";

const WIDTH = 720; // values at most: more than pixels are not seen
const HEIGHT = 34;

/** What the machine did over the time: one strip each for CPUs, memory, GPUs and replicas. */
export function UseStrip({ history }: { readonly history: MachineHistoryJson }) {
  const values = (all: readonly unknown[] | undefined) => (all ?? []).map(Number);
  const replicas = values(history.replicas);
  const most = Math.max(1, ...thinned(replicas, WIDTH));
  const shares = [
    { name: "CPUs", values: values(history.cpuUtilization), figure: percent },
    { name: "Memory", values: values(history.memoryUtilization), figure: percent },
    { name: "GPUs", values: values(history.gpuUtilization), figure: percent },
    {
      name: "Replicas",
      values: replicas.map((value) => (value < 0 ? value : value / most)),
      figure: (share: number) => number(Number((share * most).toFixed(1))),
    },
  ].filter((one) => one.values.length > 0);
  const from = time(history.startTime) ?? 0;
  const to = from + Math.max(...shares.map((one) => one.values.length), 1) * num(history.stepSeconds) * 1000;
  if (shares.length === 0) return <p class="soft">Nothing was measured yet.</p>;
  return (
    <div class="use-strip">
      {shares.map((one) => {
        const figures = meanAndPeak(one.values);
        const words = figures ? `mean ${one.figure(figures.mean)}, peak ${one.figure(figures.peak)}` : "not known";
        return [
          <span key={one.name}>{one.name}</span>,
          <svg
            key={`${one.name} strip`}
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={`${one.name}: ${words}`}
          >
            <path d={areaPath(thinned(one.values, WIDTH), WIDTH, HEIGHT)} />
          </svg>,
          <span key={`${one.name} figures`} class="figures">
            {words}
          </span>,
        ];
      })}
      <div class="axis" aria-hidden="true">
        {hourMarks(from, to).map((at) => (
          <span key={at} style={{ left: `${((at - from) / (to - from)) * 100}%` }}>
            {clock(at).slice(0, 5)}
          </span>
        ))}
      </div>
    </div>
  );
}
