import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Whether an element is in view, or nearly: what is not need not exist. */
export function useInView(element: RefObject<HTMLElement | null>, margin = "300px"): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const look = (entries: IntersectionObserverEntry[]) => setSeen(entries.at(-1)?.isIntersecting ?? false);
    const observer = new IntersectionObserver(look, { rootMargin: margin });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [margin]);
  return seen;
}
