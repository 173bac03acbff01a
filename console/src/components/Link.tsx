import type { ComponentChildren } from "preact";
import { BASE, go } from "../router.ts";
import { plain } from "../text/plain.ts";

interface Props {
  /** Below /ui. */
  readonly to: string;
  readonly class?: string;
  readonly current?: boolean;
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** A link to a view. A plain click stays in the page; another one does what the browser does with links. */
export function Link({ to, children, current, title, ...rest }: Props) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={BASE + to} onClick={follow} aria-current={current ? "page" : undefined} title={title && plain(title)} {...rest}>
      {children}
    </a>
  );
}
