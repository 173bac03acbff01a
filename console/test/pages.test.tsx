import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, expect, it } from "vitest";
import { ListEnd } from "../src/components/ListEnd.tsx";
import { AGAIN_MOST, type Kept, usePages } from "../src/state/pages.ts";

afterEach(cleanup);

const PAGE = 3;
const asked: string[] = [];
let broken = false;
let end = 9;

async function ask(key: string, from: string) {
  asked.push(`${key} ${from}`);
  if (broken) throw new Error("The server does not answer.");
  const first = Number(from);
  const items = Array.from({ length: PAGE }, (_, at) => `${key}${first + at}`);
  return { items, next: first + PAGE < end ? String(first + PAGE) : null };
}

interface Props {
  readonly name: string;
  readonly stays?: boolean;
  readonly kept?: Kept<string[]>;
}

function List({ name, stays = false, kept }: Props) {
  const list = usePages<string[], Awaited<ReturnType<typeof ask>>>({
    key: name,
    none: [],
    ask: (from) => ask(name, from),
    joined: (all, page) => [...all, ...page.items],
    lengthOf: (all) => all.length,
    stays,
    ...(kept ? { kept: () => kept, renews: true } : {}),
  });
  return (
    <>
      <p data-testid="rows">{list.data.join(" ")}</p>
      <button type="button" onClick={list.more}>more</button>
      <button type="button" onClick={list.reload}>reload</button>
      {list.error && <p>{list.error.message}</p>}
      {list.complete && <p>all</p>}
      <ListEnd of={list} />
    </>
  );
}

const rows = () => screen.getByTestId("rows").textContent;
const shows = (text: string) => waitFor(() => expect(rows()).toBe(text));
const press = (name: string) => act(() => void fireEvent.click(screen.getByText(name)));

it("says at its end that a page is missing, and asks for that page again", async () => {
  asked.length = 0;
  render(<List name="a" />);
  await shows("a0 a1 a2");
  broken = true;
  await press("more");
  await screen.findByRole("alert");
  expect(rows()).toBe("a0 a1 a2");
  await press("more");
  expect(asked).toEqual(["a ", "a 3"]); // Scrolling asks no broken server again and again.
  broken = false;
  await press("Retry");
  await shows("a0 a1 a2 a3 a4 a5");
  expect(screen.queryByRole("alert")).toBeNull();
  expect(asked.at(-1)).toBe("a 3");
  await press("more");
  await screen.findByText("all");
});

it("asks anew for as much as is there", async () => {
  render(<List name="a" />);
  await shows("a0 a1 a2");
  await press("more");
  await shows("a0 a1 a2 a3 a4 a5");
  asked.length = 0;
  await press("reload");
  await waitFor(() => expect(asked).toEqual(["a ", "a 3"]));
  await shows("a0 a1 a2 a3 a4 a5");
});

it("shows nothing of another list, unless it may stay until the next one is there", async () => {
  const { rerender } = render(<List name="a" />);
  await shows("a0 a1 a2");
  rerender(<List name="b" />);
  expect(rows()).toBe("");
  await shows("b0 b1 b2");
  cleanup();
  const other = render(<List name="a" stays />);
  await shows("a0 a1 a2");
  other.rerender(<List name="b" stays />);
  expect(rows()).toBe("a0 a1 a2");
  await shows("b0 b1 b2");
  broken = true;
  other.rerender(<List name="c" stays />);
  await screen.findByText("The server does not answer.");
  expect(rows()).toBe("");
  broken = false;
});

it("shows what was kept at once, and asks for it anew", async () => {
  asked.length = 0;
  render(<List name="a" kept={{ data: ["a0", "x1", "a2", "a3"], next: "6" }} />);
  expect(rows()).toBe("a0 x1 a2 a3");
  await shows("a0 a1 a2 a3 a4 a5");
  expect(asked).toEqual(["a ", "a 3"]);
});

it("keeps the place of a reader who is far down; what is asked for anew is bounded", async () => {
  const rowsOf = (length: number) => Array.from({ length }, (_, at) => `a${at}`);
  end = 10 * AGAIN_MOST;
  asked.length = 0;
  render(<List name="a" kept={{ data: rowsOf(5001), next: "5001" }} />);
  await waitFor(() => expect(asked.length).toBe(5001 / PAGE));
  await waitFor(() => expect(rows()?.split(" ").length).toBe(5001));
  cleanup();
  asked.length = 0;
  render(<List name="a" kept={{ data: rowsOf(AGAIN_MOST + 5000), next: String(AGAIN_MOST + 5000) }} />);
  await waitFor(() => expect(rows()?.split(" ").length).toBeLessThan(AGAIN_MOST + PAGE));
  expect(asked.length).toBe(Math.ceil(AGAIN_MOST / PAGE));
  end = 9;
});
