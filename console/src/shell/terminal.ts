// A terminal in the page on a replica's WebSocket: binary messages are the terminal's bytes, both ways; a text message
// "ROWS COLUMNS" is its size. This module brings xterm.js, so it is loaded when a shell is opened.
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { endOf, type ShellEnd } from "../text/shell_session.ts";
import { terminalColors } from "./colors.ts";
import { allowTerminalStyles } from "./style_policy.ts";

const FONT_SIZE = 13;
const SCROLLBACK = 10_000;

export interface ShellEvents {
  opened(): void;
  /** `wasOpen`: it was, and is not any more; else it never was. */
  ended(end: ShellEnd, wasOpen: boolean): void;
}

export class ShellTerminal {
  private readonly forbid = allowTerminalStyles();
  private readonly terminal: Terminal;
  private readonly fit = new FitAddon();
  private readonly resized = new ResizeObserver(() => this.fit.fit());
  private socket: WebSocket | undefined;

  /** @param leave  takes the focus when the reader leaves the terminal by Shift+Escape */
  constructor(element: HTMLElement, leave: () => void) {
    this.terminal = new Terminal({
      fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono"),
      fontSize: FONT_SIZE,
      scrollback: SCROLLBACK,
      cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
      minimumContrastRatio: 4.5,
      screenReaderMode: true,
      theme: terminalColors(),
      linkHandler: { activate: () => undefined }, // what a program calls a link opens nothing
    });
    this.terminal.loadAddon(this.fit);
    this.terminal.open(element);
    this.fit.fit();
    this.resized.observe(element);
    this.terminal.onData((text) => this.send(new TextEncoder().encode(text)));
    this.terminal.onBinary((text) => this.send(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
    this.terminal.onResize(({ rows, cols }) => this.send(`${rows} ${cols}`));
    this.terminal.attachCustomKeyEventHandler((event) => {
      if (event.key !== "Escape" || !event.shiftKey) return true;
      if (event.type === "keydown") leave();
      return false;
    });
  }

  /** @param path  of the WebSocket on this origin */
  connect(path: string, events: ShellEvents): void {
    this.socket?.close();
    const url = new URL(path, location.origin);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("rows", String(this.terminal.rows));
    url.searchParams.set("columns", String(this.terminal.cols));
    const socket = new WebSocket(url);
    let wasOpen = false;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      wasOpen = true;
      this.send(`${this.terminal.rows} ${this.terminal.cols}`);
      this.terminal.focus();
      events.opened();
    };
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) =>
      this.terminal.write(typeof data === "string" ? data : new Uint8Array(data));
    socket.onclose = ({ code, reason }) => {
      if (this.socket === socket) events.ended(endOf(code, reason), wasOpen);
    };
    this.socket = socket;
  }

  /** As after its opening: what was written is gone. */
  clear(): void {
    this.terminal.reset();
  }

  /** In the page's theme. */
  recolor(): void {
    this.terminal.options.theme = terminalColors();
  }

  close(): void {
    const socket = this.socket;
    this.socket = undefined;
    socket?.close();
    this.resized.disconnect();
    this.terminal.dispose();
    this.forbid();
  }

  private send(data: Uint8Array<ArrayBuffer> | string): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(data);
  }
}
