import { useJson } from "../api/use.ts";
import { number } from "../text/format.ts";
import { barsOf, inWords, shapesOf } from "../text/histogram.ts";
import { Loaded } from "./Notices.tsx";

const WIDTH = 320;
const HEIGHT = 120;

/** One histogram of an event file: bars, and what they say in words. */
export function HistogramView({ source, label }: { readonly source: string; readonly label: string }) {
  const answer = useJson<unknown>(source);
  return (
    <Loaded of={answer}>
      {(data) => {
        const bars = barsOf(data);
        const words = inWords(bars, number);
        return (
          <figure class="histogram">
            <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${label}: ${words}`} preserveAspectRatio="none">
              {shapesOf(bars, WIDTH, HEIGHT).map((bar, at) => (
                <rect key={at} x={bar.x} y={HEIGHT - bar.height} width={bar.width} height={bar.height} />
              ))}
            </svg>
            <figcaption class="soft">{words}</figcaption>
          </figure>
        );
      }}
    </Loaded>
  );
}
