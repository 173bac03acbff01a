import type { ScalarList_ItemJson } from "proto/control/v1/curves_pb";
import { useMemo, useState } from "preact/hooks";
import type { CurveChoices } from "../state/curve_choices.ts";
import { cut, visible } from "../text/plain.ts";
import { grouped } from "../text/tags.ts";
import { Button } from "./Button.tsx";
import { TagChart } from "./TagChart.tsx";
import { Text } from "./Text.tsx";

interface Props {
  readonly project: string;
  readonly items: readonly ScalarList_ItemJson[];
  /** How many jobs are on the page. */
  readonly jobs: number;
  readonly choices: CurveChoices;
}

/** Charts at once; thousands of tags are there when they are wanted. */
const TAGS_STEP = 200;

/** A chart for each tag, by the tags' folders. */
export function TagGroups({ project, items, jobs, choices }: Props) {
  const groups = useMemo(() => grouped(items), [items]);
  const [most, setMost] = useState(TAGS_STEP);
  const all = groups.reduce((count, group) => count + group.tags.length, 0);
  let left = most;
  return (
    <>
      {groups.map(({ name, tags }) => {
        const shown = tags.slice(0, Math.max(0, left));
        left -= shown.length;
        if (shown.length === 0) return null;
        return (
          <section key={name} class="stack" aria-label={name === "" ? "Curves" : `Curves of ${visible(cut(name, 80))}`}>
            {name === ""
              ? <h2 class="hidden-text">Curves</h2>
              : <h2><Text value={name} longest={120} /> <span class="soft">{tags.length}</span></h2>}
            <div class={all === 1 ? "tag-grid single" : "tag-grid"}>
              {shown.map(({ tag, items: own }) => (
                <TagChart key={tag} project={project} tag={tag} items={own} jobs={jobs} choices={choices} />
              ))}
            </div>
          </section>
        );
      })}
      {all > most && (
        <div><Button onClick={() => setMost(most + TAGS_STEP)}>Show more of {all.toLocaleString("en-US")} tags</Button></div>
      )}
    </>
  );
}
