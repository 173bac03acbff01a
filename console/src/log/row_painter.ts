// One row of the list of lines as DOM. Rows are used again and again: only their texts change.
import { ansiParts, hasAnsi } from "../text/ansi.ts";
import { bytes, count } from "../text/format.ts";
import { clockMs, type LineRange, type LogLine, placesOf, severityMark, toneOf } from "../text/log_lines.ts";
import { cut, visible } from "../text/plain.ts";
import { colorIndex } from "../state/colors.ts";

/** Characters of a line in the list. A megabyte in a row costs the browser 0.1 s of layout; the rest is a click away. */
export const SHOWN_MOST = 4000;
const FIELDS_MOST = 400;
const MARKS_MOST = 50;

/** What all rows look like, at the moment. */
export interface RowLook {
  /** Plain text to mark; "" marks nothing. */
  readonly find: string;
  readonly isMatch: (line: number) => boolean;
  readonly chosen: LineRange | null;
}

const lines = new WeakMap<Element, RowView>();

/** The number of the line that an element is in; undefined: of none. */
export function lineOfElement(element: Element): number | undefined {
  const row = element.closest(".log-row");
  return row === null ? undefined : lines.get(row)?.lineNumber;
}

export class RowView {
  readonly element = document.createElement("div");
  height = 0;
  private readonly number = document.createElement("a");
  private readonly time = span("log-time");
  private readonly severity = span("log-severity");
  private readonly replica = span("log-replica");
  private readonly text = document.createElement("bdi");
  private readonly more = document.createElement("button");
  private painted: readonly unknown[] = [];
  private shift = Number.NaN;
  private chosen = false;
  private line = -1;

  constructor() {
    this.element.className = "log-row";
    this.element.setAttribute("role", "listitem");
    this.number.className = "log-number";
    this.number.tabIndex = -1;
    this.text.className = "log-text";
    this.more.type = "button";
    this.more.tabIndex = -1;
    this.more.className = "log-more";
    this.more.hidden = true;
    lines.set(this.element, this);
    this.element.append(this.number, this.time, this.severity, this.replica, this.text, this.more);
  }

  get lineNumber(): number {
    return this.line;
  }

  /** Returns whether anything changed. */
  paint(number: number, line: LogLine | undefined, look: RowLook): boolean {
    const state = [number, line, look];
    if (state.every((value, at) => value === this.painted[at])) return false;
    this.painted = state;
    const chosen = look.chosen !== null && number >= look.chosen.first && number <= look.chosen.last;
    const loud = line ? toneOf(line) : "";
    setClass(this.element, "log-row" + (loud && ` ${loud}`) + (chosen ? " chosen" : "") + (look.isMatch(number) ? " match" : ""));
    if (chosen !== this.chosen) {
      this.chosen = chosen;
      if (chosen) this.element.setAttribute("aria-current", "true");
      else this.element.removeAttribute("aria-current");
    }
    this.line = number;
    this.number.textContent = String(number);
    this.time.textContent = line ? clockMs(line.ms) : "";
    this.severity.textContent = line ? severityMark(line) : "";
    this.replica.textContent = line ? visible(cut(nameOf(line), 60)) : "";
    setClass(this.replica, `log-replica c${colorIndex(line?.replica ?? "")}`);
    this.paintText(line, look);
    return true;
  }

  moveTo(pixels: number): void {
    if (this.shift === pixels) return;
    this.shift = pixels;
    this.element.style.transform = `translateY(${pixels}px)`;
  }

  private paintText(line: LogLine | undefined, look: RowLook): void {
    const raw = line?.text ?? "…";
    const text = raw.slice(0, SHOWN_MOST);
    const fields = line?.fields ?? "";
    if (!hasAnsi(text) && look.find === "" && fields === "") this.text.textContent = visible(text);
    else this.text.replaceChildren(...nodesOf(text, look.find), ...(fields === "" ? [] : [fieldsOf(fields)]));
    const isLong = line !== undefined && (line.bytes > 0 || raw.length > SHOWN_MOST || fields.length > FIELDS_MOST);
    const more = raw.trimEnd().split("\n").length - 1; // a traceback is one entry: a row shows its first line
    if (this.more.hidden === (isLong || more > 0)) this.more.hidden = !isLong && more === 0;
    if (isLong) this.more.textContent = `show all (${bytes(Math.max(line.bytes, raw.length + fields.length))})`;
    else if (more > 0) this.more.textContent = `+${count(more, "line")}`;
    this.more.classList.toggle("further", !isLong);
  }
}

function setClass(element: HTMLElement, names: string): void {
  if (element.className !== names) element.className = names;
}

function nameOf(line: LogLine): string {
  return line.trial === "" ? line.replica : `${line.trial} ${line.replica}`;
}

function span(name: string): HTMLSpanElement {
  const element = document.createElement("span");
  element.className = name;
  return element;
}

function fieldsOf(fields: string): Node {
  const element = span("log-fields");
  element.textContent = " " + visible(cut(fields, FIELDS_MOST));
  return element;
}

/** The text with its colours, and marks where it has what is looked for. */
function nodesOf(text: string, find: string): Node[] {
  let marks = MARKS_MOST;
  return ansiParts(text).flatMap((part) => {
    const places = marks > 0 ? placesOf(part.text, find, marks) : [];
    marks -= places.length;
    const nodes = marked(part.text, places);
    if (part.look === null) return nodes;
    const element = document.createElement("span");
    const style = element.style;
    const { color, background, bold, italic, underline, strike } = part.look;
    if (color) style.color = color;
    if (background) style.backgroundColor = background;
    if (bold) style.fontWeight = "700";
    if (italic) style.fontStyle = "italic";
    const lines = [underline && "underline", strike && "line-through"].filter(Boolean);
    if (lines.length > 0) style.textDecoration = lines.join(" ");
    element.append(...nodes);
    return [element];
  });
}

function marked(text: string, places: readonly (readonly [number, number])[]): Node[] {
  const nodes: Node[] = [];
  let begin = 0;
  for (const [from, to] of places) {
    if (from > begin) nodes.push(new Text(visible(text.slice(begin, from))));
    const mark = document.createElement("mark");
    mark.textContent = visible(text.slice(from, to));
    nodes.push(mark);
    begin = to;
  }
  if (begin < text.length) nodes.push(new Text(visible(text.slice(begin))));
  return nodes;
}
