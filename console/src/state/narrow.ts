import { useEffect, useState } from "preact/hooks";

const query = matchMedia("(max-width: 820px)");

/** Whether there is no room for tables: rows become cards. */
export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const changed = () => setNarrow(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return narrow;
}
