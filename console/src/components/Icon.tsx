// Signs on buttons, drawn in the colour of their words: lines on a grid of 16.
const PATHS = {
  again: "M13 8a5 5 0 1 1-1.5-3.6M13 2v3h-3",
  copy: "M6 6h7v7H6zM3 10V3h7",
  download: "M8 2v8M5 7l3 3 3-3M3 13h10",
  folder: "M2 4h4l2 2h6v7H2z",
  trash: "M3 4h10M6 4V2h4v2M4 4l1 10h6l1-10",
  stop: "M4 4h8v8H4z",
  plus: "M8 3v10M3 8h10",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.4 1.4M11.6 11.6 13 13M13 3l-1.4 1.4M4.4 11.6 3 13",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z",
  star: "M8 2l1.8 3.9 4.2.5-3.1 2.9.8 4.2L8 11.4l-3.7 2.1.8-4.2L2 6.4l4.2-.5z",
  columns: "M2 3h12v10H2zM6 3v10M10 3v10",
  jobs: "M2 4h12M2 8h12M2 12h8",
} as const;
export type IconName = keyof typeof PATHS;

/** Says nothing by itself: the button has words or a name. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** Tracks that part: the same sign is the tab's. */
export function Brand() {
  return (
    <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" fill="none" stroke-width="2.4" stroke-linecap="round">
      <path d="M8 20V4M8 13c0-4 8-3 8-9M16 20v-5" />
    </svg>
  );
}
