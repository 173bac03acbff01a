import { useEffect, useRef, useState } from "preact/hooks";
import { send } from "../../api/http.ts";
import { asApiError } from "../../api/use.ts";
import type { ShellTerminal } from "../../shell/terminal.ts";
import { useTheme } from "../../state/theme.ts";
import { Button } from "../Button.tsx";
import { Text } from "../Text.tsx";
import "./TerminalView.css";

interface Props {
  /** For whom it is read aloud. */
  readonly task: string;
  /** Where its WebSocket is. A ticket serves once, so it is asked for each time. */
  readonly path: () => Promise<string>;
}

type State = "connecting" | "open" | { readonly ended: string };

/** A shell in a replica. */
export function TerminalView({ task, path }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLDivElement>(null);
  const terminal = useRef<ShellTerminal>(undefined);
  const [state, setState] = useState<State>("connecting");
  const theme = useTheme();

  const connect = async () => {
    setState("connecting");
    try {
      const where = await path();
      terminal.current?.connect(where, {
        opened: () => setState("open"),
        ended: (end, wasOpen) => {
          setState({ ended: end.message });
          if (!wasOpen) void refusal(where).then((reason) => reason && setState({ ended: reason }));
        },
      });
    } catch (error) {
      setState({ ended: asApiError(error).message });
    }
  };

  useEffect(() => {
    let gone = false;
    import("../../shell/terminal.ts").then(({ ShellTerminal: Made }) => {
      if (gone || box.current === null) return;
      terminal.current = new Made(box.current, () => button.current?.focus());
      void connect();
    }, () => setState({ ended: "The terminal cannot be loaded. The server may be a newer one: reload the page." }));
    return () => {
      gone = true;
      terminal.current?.close();
      terminal.current = undefined;
    };
  }, []);
  useEffect(() => terminal.current?.recolor(), [theme]);

  const again = () => {
    terminal.current?.clear();
    void connect();
  };
  return (
    <div class="terminal-view">
      <div ref={button} class="terminal-state" tabIndex={-1} role="status">
        {state === "connecting" && <span class="soft">Connecting…</span>}
        {state === "open" && <span class="terminal-open">Connected</span>}
        {typeof state === "object" && (
          <>
            <span><Text value={state.ended} /></span>
            <Button kind="main" onClick={again}>Open again</Button>
          </>
        )}
        <span class="soft terminal-hint">Shift+Escape leaves the terminal</span>
      </div>
      <div ref={box} class="terminal-box" role="region" aria-label={`Shell in ${task}`} />
    </div>
  );
}

/** Browsers do not say why a WebSocket was refused; the same address says it to a plain request. */
async function refusal(path: string): Promise<string> {
  return send(path).then(() => "", (error: unknown) => asApiError(error).message);
}
