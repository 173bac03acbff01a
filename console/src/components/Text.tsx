import { cut, visible } from "../text/plain.ts";

interface Props {
  readonly value: string | undefined;
  /** Shown at most, in characters. */
  readonly longest?: number;
  readonly class?: string;
}

/** Text that somebody wrote, as text: nothing of it is markup, hidden characters are seen, its direction is its own. */
export function Text({ value, longest = 10_000, class: name = "" }: Props) {
  return <bdi class={`text ${name}`}>{visible(cut(value ?? "", longest))}</bdi>;
}
