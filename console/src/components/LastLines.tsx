import type { LogWindowJson } from "proto/control/v1/log_window_pb";
import { useEffect } from "preact/hooks";
import { withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { useJson } from "../api/use.ts";
import { useAtMostEvery } from "../state/every.ts";
import { address } from "../text/address.ts";
import { withoutEscapes } from "../text/ansi_plain.ts";
import { clock, time } from "../text/format.ts";
import { lineOf } from "../text/log_lines.ts";
import { cut } from "../text/plain.ts";
import { writtenOver } from "../text/redraws.ts";
import { Link } from "./Link.tsx";
import { Loaded } from "./Notices.tsx";
import { Text } from "./Text.tsx";
import "./LastLines.css";

const LINES = 12;
/** Some may be states of progress bars, of which only the last is shown. */
const ASKED = 60;
const AGAIN_MS = 500;
const LONGEST = 400;
const TONES: Record<string, string> = { WARNING: "warn", ERROR: "bad", CRITICAL: "bad", ALERT: "bad", EMERGENCY: "bad" };

interface Props {
  readonly project: string;
  readonly job: string;
  /** How long the log is, as last heard: when it grows, its end is asked for again. */
  readonly length: number | undefined;
}

/** The end of the log; each line leads to its place there. */
export function LastLines({ project, job, length }: Props) {
  const window = useJson<LogWindowJson>(withQuery(paths.log(project, job, "read"), { last: true, count: ASKED }));
  const again = useAtMostEvery(AGAIN_MS, window.reload);
  useEffect(() => {
    if (length !== undefined) again();
  }, [length]);
  const logs = address`/p/${project}/jobs/${job}/logs`;
  return (
    <Loaded of={window} lines={6}>
      {(answer) => {
        const lines = lastOf(answer.lines ?? []);
        if (lines.length === 0) return <p class="soft">It has written nothing yet.</p>;
        const many = new Set(lines.map(({ replica }) => replica)).size > 1;
        return (
          <div class="last-lines">
            {lines.map((line) => (
              <Link
                key={line.number ?? "0"}
                to={withQuery(logs, { line: line.number ?? 0 })}
                class={`${(!line.severityOfStream && TONES[line.severity ?? ""]) || ""}${many ? " many" : ""}`}
              >
                <span class="at">{clock(time(line.time) ?? 0)}</span>
                {many && (
                  <span class="from">
                    <Text value={line.replica} longest={40} />
                  </span>
                )}
                <span class="line">
                  <Text value={withoutEscapes(cut(line.text ?? "", LONGEST * 4))} longest={LONGEST} />
                </span>
              </Link>
            ))}
          </div>
        );
      }}
    </Loaded>
  );
}

function lastOf(lines: NonNullable<LogWindowJson["lines"]>): NonNullable<LogWindowJson["lines"]> {
  const over = writtenOver(lines.map(lineOf));
  return lines.filter((_, at) => !over[at]).slice(-LINES);
}
