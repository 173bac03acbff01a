import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { setQuery } from "../router.ts";
import { type CurveQuery, setAxis, setLog, SMOOTH_MAX } from "../state/curve_choices.ts";
import { useKeys } from "../state/keys.ts";
import { useSteady } from "../state/steady.ts";
import type { XAxis } from "../text/curves.ts";
import { Button } from "./Button.tsx";
import "./CurveControls.css";

interface Props {
  readonly query: CurveQuery;
  readonly zoomed: boolean;
  /** Of tags that are shown: "12 of 40 tags". */
  readonly shown: string;
}

const STEADY_MS = 100;

/** What of the curves is shown, and how. Everything is kept in the address. Key: / */
export function CurveControls({ query, zoomed, shown }: Props) {
  const box = useRef<HTMLInputElement>(null);
  const smooth = (weight: number) => setQuery({ smooth: weight === 0 ? null : String(weight) });
  const [smoothing, setSmoothing] = useSteady(query.smooth, STEADY_MS, smooth);
  useKeys({ "/": () => box.current?.focus() });
  return (
    <div class="curve-controls" role="group" aria-label="Curves that are shown">
      <Search label="Tags" value={query.tagText} literal={query.tag.literal} input={box} onChange={(tag) => setQuery({ tag })} />
      <Search label="Runs" value={query.runText} literal={query.run.literal} onChange={(run) => setQuery({ run })} />
      <label>
        Along
        <select class="field" value={query.x} onChange={(event) => setAxis(event.currentTarget.value as XAxis)}>
          <option value="step">step</option>
          <option value="time">time since the start</option>
          <option value="wall">time of day</option>
        </select>
      </label>
      <label>
        Smoothing
        <input type="range" min="0" max={SMOOTH_MAX} step="0.01" value={smoothing}
               onInput={(event) => setSmoothing(Number(event.currentTarget.value))} />
        <output>{smoothing.toFixed(2)}</output>
      </label>
      <span class="row" role="group" aria-label="Logarithmic axes">
        <Button onClick={() => setLog(query.logX, !query.logY)} pressed={query.logY}>log y</Button>
        <Button onClick={() => setLog(!query.logX, query.logY)} pressed={query.logX} disabled={query.x === "wall"}>log x</Button>
      </span>
      {zoomed && <Button onClick={() => setQuery({ from: null, to: null })}>Reset zoom</Button>}
      <span class="soft" role="status">{shown}</span>
    </div>
  );
}

interface SearchProps {
  readonly label: string;
  readonly value: string;
  readonly literal: boolean;
  readonly input?: RefObject<HTMLInputElement | null>;
  readonly onChange: (text: string) => void;
}

const TYPING_MS = 150;

/** A regular expression, or what is taken as text because it is none. */
function Search({ label, value, literal, input, onChange }: SearchProps) {
  const [text, setText] = useState(value);
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(waiting.current), []);
  const typed = (now: string) => {
    setText(now);
    clearTimeout(waiting.current);
    waiting.current = setTimeout(() => onChange(now), TYPING_MS);
  };
  return (
    <label>
      {label}
      <input {...(input ? { ref: input } : {})} class="field mono" type="search" spellcheck={false}
             placeholder="regular expression" value={text} onInput={(event) => typed(event.currentTarget.value)}
             onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()} />
      {literal && <span class="soft">as text</span>}
    </label>
  );
}
