// Where a log says why its job failed.
import type { LogMatchesJson, LogWindowJson } from "proto/control/v1/log_window_pb";
import { nearestTraceback } from "../log/traceback.ts";
import type { Cause } from "../text/cause.ts";
import { causeAmong, type ErrorPlace } from "../text/log_errors.ts";
import { getJson, withQuery } from "./http.ts";
import { paths } from "./paths.ts";

/** Of ERROR and above, from the end. */
const LINES = 100;

/** The traceback that the replica ended with, else the last of its errors; undefined: it wrote none. */
export async function causeLine(project: string, job: string, { replica, traceback }: Cause,
                                signal: AbortSignal): Promise<ErrorPlace | undefined> {
  if (traceback) {
    const path = paths.log(project, job, "search");
    const search = (query: Parameters<typeof withQuery>[1]) => getJson<LogMatchesJson>(withQuery(path, query), signal);
    const line = await nearestTraceback(search, { backward: true, filter: { replica } });
    if (line !== undefined) return { line, kind: "traceback" };
  }
  const query = { last: true, count: LINES, severity: "ERROR", replica };
  const window = await getJson<LogWindowJson>(withQuery(paths.log(project, job, "read"), query), signal);
  return causeAmong(window.lines ?? []);
}
