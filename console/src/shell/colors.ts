// A terminal's colours, of the page's.
import type { ITheme } from "@xterm/xterm";
import { cssColor, lineColor } from "../state/colors.ts";

/** In the theme that is on. xterm.js makes what is too near to the ground readable. */
export function terminalColors(): ITheme {
  return {
    background: cssColor("--paper"),
    foreground: cssColor("--ink"),
    cursor: cssColor("--accent"),
    cursorAccent: cssColor("--paper"),
    selectionBackground: cssColor("--mark"),
    selectionForeground: cssColor("--ink"),
    black: cssColor("--ink-soft"),
    red: cssColor("--bad"),
    green: cssColor("--good"),
    yellow: cssColor("--warn"),
    blue: cssColor("--accent"),
    magenta: lineColor(3),
    cyan: lineColor(5),
    white: cssColor("--ink"),
    brightBlack: cssColor("--ink-soft"),
    brightRed: lineColor(6),
    brightGreen: lineColor(2),
    brightYellow: lineColor(4),
    brightBlue: lineColor(0),
    brightMagenta: lineColor(7),
    brightCyan: lineColor(10),
    brightWhite: cssColor("--ink"),
  };
}
