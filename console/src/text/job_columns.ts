// Which columns the table of jobs has: state and name, and what the reader chose. Pure.
import { listOf, listText } from "./query_list.ts";

/** A column of a parameter of the jobs' programs ("p:lr"), or of a value that they reported ("m:accuracy"). */
export type OwnColumn = `p:${string}` | `m:${string}`;

export const JOB_COLUMNS = {
  cause: { name: "Cause", width: "minmax(160px, 2.5fr)" },
  what: { name: "What", width: "minmax(140px, 2fr)" },
  submitted: { name: "Submitted as", width: "minmax(120px, 1.2fr)" },
  machines: { name: "Machines", width: "minmax(90px, 1fr)" },
  labels: { name: "Labels", width: "minmax(80px, 1.5fr)" },
  created: { name: "Created", width: "92px" },
  started: { name: "Started", width: "92px" },
  ended: { name: "Ended", width: "92px" },
  elapsed: { name: "Elapsed", width: "92px" },
  metric: { name: "Metric", width: "minmax(90px, 1fr)" },
  trials: { name: "Trials", width: "80px" },
  who: { name: "Who", width: "minmax(60px, 0.8fr)" },
} as const;
export type KnownColumn = keyof typeof JOB_COLUMNS;
export type JobColumn = KnownColumn | OwnColumn;

export const COLUMN_NAMES = Object.keys(JOB_COLUMNS) as KnownColumn[];
const OWN_WIDTH = "minmax(70px, 1fr)";

export function isOwn(column: string): column is OwnColumn {
  return /^[pm]:./.test(column);
}

/** What stands above a column. */
export function columnName(column: JobColumn): string {
  return isOwn(column) ? column.slice(2) : JOB_COLUMNS[column].name;
}
const USUAL: readonly JobColumn[] = ["what", "labels", "created", "elapsed", "metric", "who"];
const FIXED = "134px minmax(160px, 2fr)";
/** For an address that chooses none. */
const NONE = "none";

/** Where nobody is asked who they are, there is no one to name. */
function usual(named: boolean): readonly JobColumn[] {
  return named ? USUAL : USUAL.filter((column) => column !== "who");
}

/** Those of an address, in the table's order. */
export function columnsOf(text: string | null, named: boolean): readonly JobColumn[] {
  if (text === null || text === "") return usual(named);
  const chosen = new Set(listOf(text));
  return [...COLUMN_NAMES.filter((column) => chosen.has(column)), ...[...chosen].filter(isOwn)];
}

/** For an address; null: they are the usual ones. */
export function columnsText(columns: readonly JobColumn[], named: boolean): string | null {
  const ordered = [...COLUMN_NAMES.filter((column) => columns.includes(column)), ...columns.filter(isOwn)];
  if (ordered.join() === usual(named).join()) return null;
  return ordered.length === 0 ? NONE : listText(ordered);
}

/** As CSS has the columns of a grid. */
export function gridOf(columns: readonly JobColumn[]): string {
  return [FIXED, ...columns.map((column) => (isOwn(column) ? OWN_WIDTH : JOB_COLUMNS[column].width))].join(" ");
}

/** The width in pixels below which a row's columns do not fit beside each other: with its gaps and margins. */
export function leastWidth(columns: readonly JobColumn[]): number {
  const widths = gridOf(columns).match(/\d+(?=px)/g) ?? [];
  return widths.reduce((sum, width) => sum + Number(width) + 12, 16);
}
