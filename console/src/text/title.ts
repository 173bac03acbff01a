import { cut, visible } from "./plain.ts";

const WORDS: Readonly<Record<string, string>> = {
  jobs: "Jobs", new: "New job", compare: "Compare", studies: "Studies", buckets: "Buckets", machine: "Machine", start: "First steps",
};
const NAME_LONGEST = 60;

/**
 * What a tab or a bookmark calls the page of a path below /ui: "census_1: logs · Trainyard". Pure.
 * @param displayName  of the job that the path names; "" if it has none, or none is known
 */
export function titleOf(path: string, displayName = ""): string {
  const parts = path.split("/").filter((part) => part !== "").map(decoded);
  const own = parts[0] === "p" ? parts.slice(2) : parts;
  const [kind = "", name, ...rest] = own;
  const word = WORDS[kind] ?? "";
  const named = displayName === "" ? name : `${displayName} (${name})`;
  const what = named === undefined ? word : [named, rest.join("/")].filter((part) => part !== "").join(": ");
  return what === "" ? "Trainyard" : `${cut(visible(what), NAME_LONGEST)} · Trainyard`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
