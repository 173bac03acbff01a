// Tags and runs: how they are named, found and put in groups. Pure.
import type { ScalarList_ItemJson, ScalarNameJson } from "proto/control/v1/curves_pb";
import { count } from "./format.ts";
import { cut } from "./plain.ts";

/** Of a name that is looked at; a longer one was not made for people. */
const LOOKED_AT = 1000;

export interface Finder {
  readonly matches: (text: string) => boolean;
  /** The text is no regular expression and was taken as it is. */
  readonly literal: boolean;
}

/** A regular expression, else the text itself; letters of both cases are the same. */
export function finder(text: string): Finder {
  if (text === "") return { matches: () => true, literal: false };
  try {
    const expression = new RegExp(text, "i");
    return { matches: (value) => expression.test(value.slice(0, LOOKED_AT)), literal: false };
  } catch {
    const wanted = text.toLowerCase();
    return { matches: (value) => value.slice(0, LOOKED_AT).toLowerCase().includes(wanted), literal: true };
  }
}

/** Whose a curve is, within its job: "trial 3/eval", "trial 3" for what it reported; empty: the job itself. */
export function runOf(name: ScalarNameJson): string {
  if (!name.trialId) return name.run ?? "";
  return name.hypertune ? `trial ${name.trialId}` : `trial ${name.trialId}/${name.run || "."}`;
}

/** What the curve of a run is called beside others. */
export function runLabel(name: ScalarNameJson, jobs: number): string {
  const run = [runOf(name), name.hypertune && !name.trialId ? "(reported)" : ""].filter(Boolean).join(" ");
  if (jobs > 1) return run === "" ? (name.jobId ?? "") : `${name.jobId ?? ""} ${run}`;
  return run === "" ? (name.jobId ?? "") : run;
}

/** The folder of a tag: "train/loss" -> "train"; empty: it is in none. */
export function groupOf(name: ScalarNameJson): string {
  const tag = name.tag ?? "";
  const slash = tag.indexOf("/");
  return slash > 0 ? cut(tag.slice(0, slash), LOOKED_AT) : "";
}

export interface TagItems {
  readonly tag: string;
  readonly items: readonly ScalarList_ItemJson[];
}

export interface TagGroup {
  readonly name: string;
  readonly tags: readonly TagItems[];
}

const byName = new Intl.Collator("en", { numeric: true }).compare;
const byRun = (one: ScalarList_ItemJson, other: ScalarList_ItemJson) => byName(runOf(one.name ?? {}), runOf(other.name ?? {}));

/** Curves by tag, tags by folder; tags without a folder first. */
export function grouped(items: readonly ScalarList_ItemJson[]): readonly TagGroup[] {
  const groups = new Map<string, Map<string, ScalarList_ItemJson[]>>();
  for (const item of items) {
    const tags = entry(groups, groupOf(item.name ?? {}), () => new Map<string, ScalarList_ItemJson[]>());
    entry(tags, item.name?.tag ?? "", () => []).push(item);
  }
  return [...groups].sort(([one], [other]) => byName(one, other)).map(([name, tags]) => ({
    name,
    tags: [...tags].sort(([one], [other]) => byName(one, other)).map(([tag, own]) => ({ tag, items: own.sort(byRun) })),
  }));
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

/** "3 of 12 curves". */
export function shownOf(shown: number, all: number): string {
  return shown === all ? count(all, "curve") : `${shown.toLocaleString("en-US")} of ${count(all, "curve")}`;
}

export interface Found {
  readonly items: readonly ScalarList_ItemJson[];
  /** The runs of all items, as runLabel names them, also of those that were not found. */
  readonly runs: readonly string[];
}

/** The items whose tag and run are wanted. */
export function found(items: readonly ScalarList_ItemJson[], tag: Finder, run: Finder, jobs: number): Found {
  const runs = new Set<string>();
  const wanted = items.filter(({ name = {} }) => {
    const label = runLabel(name, jobs);
    runs.add(label);
    return tag.matches(name.tag ?? "") && run.matches(label);
  });
  return { items: wanted, runs: [...runs].sort(byName) };
}
