// Which of a log's lines are errors that somebody meant. The server gives each line of stderr the severity ERROR, whatever
// it says (docs/logging.md): a stream is no severity, so lines that only came from stderr count less. Pure.
import type { LogLineShownJson } from "proto/control/v1/log_window_pb";

export const TRACEBACK = "Traceback (most recent call last):";

/** Python's logging without a handler, as the server reads it: "ERROR:root:text". */
const LEVEL = /^(?:ERROR|CRITICAL):[A-Za-z0-9_.]+:/;
/** Says only that the program ended, and how: its reason is elsewhere. */
const STARTER = "/runcloudml.py";

export function hasTraceback(line: LogLineShownJson): boolean {
  return (line.text ?? "").includes(TRACEBACK);
}

/** A line of ERROR or above that its writer gave that severity: not one that only came from stderr. */
export function isMeant(line: LogLineShownJson): boolean {
  if (line.severityOfStream) return false;
  if (line.severity !== "ERROR" || line.replica === "service") return true;
  return line.json !== undefined || line.jsonLeftOut === true || hasTraceback(line) || LEVEL.test(line.text ?? "");
}

/** Whose program: the service and what starts the program only repeat that it failed. */
function isOwn(line: LogLineShownJson): boolean {
  return line.replica !== "service" && line.json?.["pathname"] !== STARTER;
}

export interface ErrorPlace {
  readonly line: number;
  readonly kind: "traceback" | "error" | "stderr";
}

/** The line that says most of why a program ended, of the last ones of ERROR and above; undefined: there are none. */
export function causeAmong(lines: readonly LogLineShownJson[]): ErrorPlace | undefined {
  const own = lines.filter(isOwn);
  const found = own.findLast(hasTraceback) ?? own.findLast(isMeant) ?? own.at(-1) ?? lines.at(-1);
  if (found === undefined) return undefined;
  const kind = hasTraceback(found) ? "traceback" : isMeant(found) ? "error" : "stderr";
  return { line: Number(found.number ?? 0), kind };
}
