// Images, texts and histograms that a program wrote of itself. Pure.
import type { SummaryList_ItemJson } from "proto/control/v1/curves_pb";

export interface SummaryTag {
  readonly key: string;
  readonly tag: string;
  readonly run: string;
  readonly kind: "image" | "text" | "histogram";
  /** Oldest step first. */
  readonly items: readonly SummaryList_ItemJson[];
}

function kindOf(item: SummaryList_ItemJson): SummaryTag["kind"] {
  if (item.image) return "image";
  return item.histogram ? "histogram" : "text";
}

/** By trial, run and tag. */
export function summaryTags(items: readonly SummaryList_ItemJson[]): readonly SummaryTag[] {
  const tags = new Map<string, SummaryList_ItemJson[]>();
  for (const item of items) {
    const key = JSON.stringify([item.trialId ?? "", item.run ?? "", item.tag ?? "", kindOf(item)]);
    tags.set(key, [...(tags.get(key) ?? []), item]);
  }
  return [...tags].map(([key, own]) => {
    const first = own[0] ?? {};
    return {
      key,
      tag: first.tag ?? "",
      run: [first.trialId ? `trial ${first.trialId}` : "", first.run].filter(Boolean).join("/"),
      kind: kindOf(first),
      items: own.toSorted((one, other) => Number(one.step ?? 0) - Number(other.step ?? 0)),
    };
  });
}

/** An image's address, if it is one of this server's own; else nothing is asked for. */
export function imageSource(uri: string | undefined): string | undefined {
  return uri?.startsWith("/trainyard/v1/") ? uri : undefined;
}
