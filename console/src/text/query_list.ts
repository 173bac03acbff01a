// Lists and ranges in an address. Pure.
import type { Range } from "./columns.ts";

/** Texts as one parameter with commas between; the parameter itself is still to be encoded. */
export function listText(all: Iterable<string>): string {
  return [...all].map((one) => one.replaceAll(/[%,]/g, encodeURIComponent)).join(",");
}

export function listOf(text: string | null): string[] {
  return (text ?? "").split(",").filter((part) => part !== "").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
}

/** A number of the address within limits; what is none is the other one. */
export function numberOf(text: string | null, otherwise: number, { min = -Infinity, max = Infinity } = {}): number {
  const value = text === null || text === "" ? Number.NaN : Number(text);
  return Number.isNaN(value) ? otherwise : Math.min(max, Math.max(min, value));
}

/** Both ends, the first before the second; else null. */
export function rangeOf(from: string | null, to: string | null): Range | null {
  const range = { from: numberOf(from, Number.NaN), to: numberOf(to, Number.NaN) };
  return Number.isFinite(range.from) && Number.isFinite(range.to) && range.from < range.to ? range : null;
}

/** As short as an address may be: seven digits more than the range is wide. */
export function rangeText(range: Range | null): { readonly from: string | null; readonly to: string | null } {
  if (range === null) return { from: null, to: null };
  const digits = Math.max(0, Math.min(20, 4 - Math.floor(Math.log10(range.to - range.from))));
  const short = (value: number) => String(Number(value.toFixed(digits)));
  return { from: short(range.from), to: short(range.to) };
}
