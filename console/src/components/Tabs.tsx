import { useEffect, useRef } from "preact/hooks";
import { Link } from "./Link.tsx";
import "./Tabs.css";

export interface Tab {
  readonly name: string;
  readonly to: string;
  readonly current: boolean;
}

/** Views of one thing, each with an address of its own. */
export function Tabs({ tabs, label }: { readonly tabs: readonly Tab[]; readonly label: string }) {
  const element = useRef<HTMLElement>(null);
  const current = tabs.find((tab) => tab.current)?.name;
  useEffect(() => {
    const row = element.current;
    const tab = row?.querySelector<HTMLElement>("[aria-current]");
    if (row && tab) row.scrollLeft = tab.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2; // where not all have room
  }, [current]);
  return (
    <nav class="tabs" aria-label={label} ref={element}>
      {tabs.map((tab) => (
        <Link key={tab.name} to={tab.to} current={tab.current}>{tab.name}</Link>
      ))}
    </nav>
  );
}
