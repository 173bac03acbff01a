// How numbers and times are shown. Pure.

/** A 64-bit number of the API, which JSON carries as a text. */
export function num(value: string | number | undefined): number {
  return value === undefined ? 0 : Number(value);
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** 1536 -> "1.5 KiB", 16106127360 -> "15 GiB". */
export function bytes(value: number): string {
  let unit = 0;
  let rest = value;
  while (rest >= ROUNDED_UP && unit < UNITS.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return `${unit === 0 || rest >= 100 ? Math.round(rest) : Number(rest.toFixed(1))} ${UNITS[unit]}`;
}

/** What is nearer to the next unit is one of it: not "1024 MiB". */
const ROUNDED_UP = 1023.5;

/** Four digits, as many as one compares: 0.04213 -> "0.04213", 12345.6 -> "12,346", 1.2e-7 -> "1.2e-7". */
export function number(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e9) return String(Number(value.toPrecision(4))).includes("e") ? String(Number(value.toPrecision(4))) : value.toExponential(3);
  if (Number.isInteger(value) || size >= 1000) return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
  return String(Number(value.toPrecision(4)));
}

/** A number with more digits than one compares, in a sentence: no part of a word, a version or a time. */
const LONG_NUMBER = /(?<![\w.:/])\d+\.\d{5,}(?:e[-+]?\d+)?(?![\w:/]|\.\w)/g;

/** A sentence with its numbers as `number` shows them: "x=0.41216912981" -> "x=0.4122". */
export function shortNumbers(text: string): string {
  return text.replace(LONG_NUMBER, (digits) => number(Number(digits)));
}

export function count(value: number, one: string, many = `${one}s`): string {
  return `${value.toLocaleString("en-US")} ${value === 1 ? one : many}`;
}

/** 0.354 -> "35 %", 0.0018 -> "0.2 %": what is something is not nothing. */
export function percent(share: number): string {
  const value = share * 100;
  return `${Math.abs(value) < 1 ? Number(value.toFixed(1)) : Math.round(value)} %`;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** 3,725,000 -> "1 h 2 min"; two parts at most. */
export function duration(ms: number): string {
  if (ms < 0) return "0 s";
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return parts(ms, MINUTE, "min", SECOND, "s");
  if (ms < DAY) return parts(ms, HOUR, "h", MINUTE, "min");
  return parts(ms, DAY, "d", HOUR, "h");
}

function parts(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}` + (rest > 0 ? ` ${rest} ${smallName}` : "");
}

/** "5 min ago", "in 2 h"; within ten seconds "now". */
export function ago(ms: number, now: number): string {
  const passed = now - ms;
  if (Math.abs(passed) < 10 * SECOND) return "now";
  const size = Math.abs(passed);
  const text =
    size < MINUTE ? `${Math.floor(size / SECOND)} s`
    : size < HOUR ? `${Math.floor(size / MINUTE)} min`
    : size < DAY ? `${Math.floor(size / HOUR)} h`
    : `${Math.floor(size / DAY)} d`;
  return passed > 0 ? `${text} ago` : `in ${text}`;
}

/** "2026-11-23": the reader's day. */
export function day(ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** "2026-11-23 14:05:09 UTC+1": in the reader's time zone, which is named, since commands show UTC. */
export function exact(ms: number): string {
  return `${day(ms)} ${clock(ms)} ${zone(ms)}`;
}

/** The reader's zone then: "UTC", "UTC+1", "UTC-3:30". */
export function zone(ms: number): string {
  const east = -new Date(ms).getTimezoneOffset();
  if (east === 0) return "UTC";
  const minutes = Math.abs(east) % 60;
  const hours = Math.floor(Math.abs(east) / 60);
  return `UTC${east > 0 ? "+" : "-"}${hours}${minutes === 0 ? "" : `:${String(minutes).padStart(2, "0")}`}`;
}

/** "14:05:09". */
export function clock(ms: number): string {
  const date = new Date(ms);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((value) => String(value).padStart(2, "0")).join(":");
}

/** "14:05:09 UTC+1": where no day is beside it. */
export function clockZone(ms: number): string {
  return `${clock(ms)} ${zone(ms)}`;
}

/** A time of the API as ms since 1970; undefined stays. */
export function time(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
