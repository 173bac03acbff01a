// A trial, a replica has one colour on all pages.
/** Twelve hues that keep apart in both themes; CSS has a light and a dark form of each: --line-0 to --line-11. */
export const LINE_COLORS = 12;

/** The number of a name's colour: always the same one. FNV-1a. */
export function colorIndex(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) {
    hash ^= name.charCodeAt(at);
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash >>> 0) % LINE_COLORS;
}

/** The colour as canvases want it, in the theme that is on. */
export function lineColor(index: number): string {
  return cssColor(`--line-${index % LINE_COLORS}`);
}

let probe: HTMLElement | undefined;

/** A colour of base.css as canvases understand it: they know no variables and no light-dark(). */
export function cssColor(variable: string): string {
  if (probe === undefined) {
    probe = document.createElement("span");
    probe.hidden = true;
    document.body.append(probe);
  }
  probe.style.color = `var(${variable})`;
  return getComputedStyle(probe).color;
}
