import type { ComponentChildren } from "preact";
import "./FactList.css";

/** Names and what they have; what has nothing is left out. */
export function FactList({ facts }: { readonly facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  const shown = facts.filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false);
  return (
    <dl class="fact-list">
      {shown.map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>])}
    </dl>
  );
}
