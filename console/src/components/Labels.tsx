import "./Labels.css";
import { Text } from "./Text.tsx";

interface Props {
  readonly labels: Record<string, string> | undefined;
  /** Where labels can be clicked: filters by one. */
  readonly onPick?: (key: string, value: string) => void;
}

export function Labels({ labels, onPick }: Props) {
  const all = Object.entries(labels ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));
  if (all.length === 0) return null;
  return (
    <span class="labels">
      {all.map(([key, value]) => {
        const face = <Text value={value === "" ? key : `${key}: ${value}`} longest={60} />;
        if (!onPick) return <span key={key} class="label">{face}</span>;
        const pick = (event: MouseEvent) => {
          event.stopPropagation();
          onPick(key, value);
        };
        return <button key={key} type="button" class="label" onClick={pick} title="Filter by this label">{face}</button>;
      })}
    </span>
  );
}
