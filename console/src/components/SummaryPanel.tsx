import { useState } from "preact/hooks";
import { number } from "../text/format.ts";
import { cut, visible } from "../text/plain.ts";
import { imageSource, type SummaryTag } from "../text/summaries.ts";
import { HistogramView } from "./HistogramView.tsx";
import { InView } from "./InView.tsx";
import { Text } from "./Text.tsx";
import { Time } from "./Time.tsx";
import "./SummaryPanel.css";

/** One tag of images, texts or histograms, step by step; the newest at first. */
export function SummaryPanel({ tag }: { readonly tag: SummaryTag }) {
  const [chosen, setChosen] = useState<number>();
  const at = Math.min(chosen ?? tag.items.length - 1, tag.items.length - 1);
  const item = tag.items[at];
  if (item === undefined) return null;
  const source = imageSource(item.uri);
  const label = `${visible(cut(tag.tag, 200))}, step ${number(Number(item.step ?? 0))}`;
  return (
    <section class="panel tag summary">
      <div class="head spread">
        <h3><Text value={tag.tag} longest={120} /></h3>
        <Text value={tag.run} longest={80} class="soft" />
      </div>
      <div class="body">
        {tag.items.length > 1 && (
          <label class="soft">
            <span class="hidden-text">Step</span>
            <input type="range" min="0" max={tag.items.length - 1} step="1" value={at}
                   aria-valuetext={`step ${number(Number(item.step ?? 0))}`}
                   onInput={(event) => setChosen(Number(event.currentTarget.value))} />
          </label>
        )}
        <p class="soft">step {number(Number(item.step ?? 0))} · <Time at={item.time} /></p>
        {tag.kind === "image" && source && (
          <img src={source} alt={label} loading="lazy" width={item.width || undefined} height={item.height || undefined} />
        )}
        {tag.kind === "histogram" && source && <InView><HistogramView source={source} label={label} /></InView>}
        {tag.kind === "text" && <pre tabIndex={0}><Text value={item.text} /></pre>}
      </div>
    </section>
  );
}
