// Colours that programs write for terminals, as styles that are readable in both themes. Pure. Source: ECMA-48 (SGR),
// and ITU T.416 for 38 and 48. Where bars move the cursor to and what they clear means nothing in a list of lines: that is left
// out. Other escape sequences stay in the text, where they are seen as signs.

/** How a part of a line looks; what is absent is as its surroundings are. Colours are CSS, for both themes. */
export interface AnsiLook {
  readonly color?: string;
  readonly background?: string;
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
  readonly strike?: boolean;
}

export interface AnsiPart {
  readonly text: string;
  /** null: plain. */
  readonly look: AnsiLook | null;
}

type Rgb = readonly [number, number, number];

/** xterm's sixteen. */
const BASIC: readonly Rgb[] = [
  [0, 0, 0], [205, 49, 49], [13, 160, 90], [190, 150, 20],
  [36, 114, 200], [188, 63, 188], [17, 140, 180], [200, 200, 200],
  [102, 102, 102], [241, 76, 76], [35, 209, 139], [245, 220, 67],
  [59, 142, 234], [214, 112, 214], [41, 184, 219], [255, 255, 255],
];
const LEVELS = [0, 95, 135, 175, 215, 255];

/** The least contrast of text, as WCAG AA has it. */
const CONTRAST = 4.5;
/** The hardest paper that a line is shown on, by theme: that of the current line. */
const LIGHT_PAPER: Rgb = [230, 238, 252];
const DARK_PAPER: Rgb = [29, 43, 73];

interface State {
  fg: Rgb | null;
  bg: Rgb | null;
  bold: boolean;
  italic: boolean;
  underline: boolean;
  strike: boolean;
  inverse: boolean;
}

const plain = (): State =>
  ({ fg: null, bg: null, bold: false, italic: false, underline: false, strike: false, inverse: false });

export function hasAnsi(text: string): boolean {
  return text.includes("\u001b[");
}

/** The text in parts of one look each, without the sequences that were understood. */
export function ansiParts(text: string): AnsiPart[] {
  const parts: AnsiPart[] = [];
  let state = plain();
  let begin = 0;
  const add = (end: number) => {
    if (end > begin) parts.push({ text: text.slice(begin, end), look: lookOf(state) });
  };
  // eslint-disable-next-line no-control-regex
  for (const found of text.matchAll(/\u001b\[(?:([0-9;:]{0,100})m|[0-9;?]{0,100}[A-HJKSTfhlsu])/g)) {
    add(found.index);
    if (found[1] !== undefined) state = after(state, found[1].split(/[;:]/).map(Number));
    begin = found.index + found[0].length;
  }
  add(text.length);
  return parts;
}

function after(before: State, codes: readonly number[]): State {
  let state = { ...before };
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 0) state = plain();
    else if (code === 1) state.bold = true;
    else if (code === 3) state.italic = true;
    else if (code === 4) state.underline = true;
    else if (code === 7) state.inverse = true;
    else if (code === 9) state.strike = true;
    else if (code === 22) state.bold = false;
    else if (code === 23) state.italic = false;
    else if (code === 24) state.underline = false;
    else if (code === 27) state.inverse = false;
    else if (code === 29) state.strike = false;
    else if (code === 39) state.fg = null;
    else if (code === 49) state.bg = null;
    else if (code === 38 || code === 48) {
      const { color, used } = extended(codes, at + 1);
      if (color) state = { ...state, [code === 38 ? "fg" : "bg"]: color };
      at += used;
    } else {
      const basic = basicOf(code);
      if (basic) state = { ...state, [basic.which]: basic.color };
    }
  }
  return state;
}

function basicOf(code: number): { which: "fg" | "bg"; color: Rgb } | null {
  for (const [first, which, offset] of [[30, "fg", 0], [40, "bg", 0], [90, "fg", 8], [100, "bg", 8]] as const) {
    const color = code >= first && code < first + 8 ? BASIC[code - first + offset] : undefined;
    if (color) return { which, color };
  }
  return null;
}

/** 5;N or 2;R;G;B */
function extended(codes: readonly number[], at: number): { color: Rgb | null; used: number } {
  if (codes[at] === 5) return { color: ofPalette(codes[at + 1] ?? 0), used: 2 };
  if (codes[at] !== 2) return { color: null, used: 0 };
  const part = (offset: number) => Math.min(255, codes[at + offset] ?? 0);
  return { color: [part(1), part(2), part(3)], used: 4 };
}

function ofPalette(number: number): Rgb | null {
  if (number < 16) return BASIC[number] ?? null;
  if (number > 255) return null;
  if (number >= 232) {
    const grey = 8 + (number - 232) * 10;
    return [grey, grey, grey];
  }
  const cube = number - 16;
  const level = (index: number) => LEVELS[index % 6] ?? 0;
  return [level(Math.floor(cube / 36)), level(Math.floor(cube / 6)), level(cube)];
}

function lookOf(state: State): AnsiLook | null {
  const { bold, italic, underline, strike } = state;
  const look: AnsiLook = {
    ...colors(state),
    ...(bold && { bold }), ...(italic && { italic }), ...(underline && { underline }), ...(strike && { strike }),
  };
  return Object.keys(look).length === 0 ? null : look;
}

function colors({ fg, bg, inverse }: State): Pick<AnsiLook, "color" | "background"> {
  if (inverse && bg === null && fg === null) return { color: "var(--paper)", background: "var(--ink)" };
  const [ink, paper] = inverse ? [bg, fg] : [fg, bg];
  if (paper) {
    const wanted = ink ?? (luminance(paper) > 0.18 ? BASIC[0] : BASIC[15]) ?? paper;
    return { color: css(readable(wanted, paper)), background: css(paper) };
  }
  if (!ink) return {};
  return { color: `light-dark(${css(readable(ink, LIGHT_PAPER))}, ${css(readable(ink, DARK_PAPER))})` };
}

function css([red, green, blue]: Rgb): string {
  return "#" + [red, green, blue].map((part) => Math.round(part).toString(16).padStart(2, "0")).join("");
}

/** The colour, or the nearest to it on the way to black or white that can be read on the paper. */
export function readable(color: Rgb, paper: Rgb): Rgb {
  const end = luminance(paper) > 0.18 ? 0 : 255;
  for (let step = 0; step <= 10; step += 1) {
    const mixed = color.map((part) => Math.round(part + ((end - part) * step) / 10)) as unknown as Rgb;
    if (contrast(mixed, paper) >= CONTRAST) return mixed;
  }
  return [end, end, end];
}

export function contrast(one: Rgb, other: Rgb): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
