import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useInView } from "../state/in_view.ts";

/** What is made when it first comes into view, and stays: for what asks the server something for each row. */
export function InView({ children }: { readonly children: ComponentChildren }) {
  const element = useRef<HTMLSpanElement>(null);
  const inView = useInView(element);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (inView) setSeen(true);
  }, [inView]);
  return <span ref={element}>{inView || seen ? children : <span class="soft">…</span>}</span>;
}
