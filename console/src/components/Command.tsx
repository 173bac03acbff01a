import { Copy } from "./Copy.tsx";
import "./Command.css";

interface Props {
  readonly text: string;
  /** How it is shown, where it is not our own text; what is copied is the text. */
  readonly shown?: (text: string) => string;
}

/** A command, or any text to take along, with a button that copies it. */
export function Command({ text, shown = (one) => one }: Props) {
  return (
    <div class="command">
      <pre tabIndex={0}>{shown(text)}</pre>
      <Copy text={text} />
    </div>
  );
}
