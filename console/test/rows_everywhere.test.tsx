import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, expect, it, vi } from "vitest";
import { TrialTable } from "../src/components/TrialTable.tsx";
import { BucketsPage } from "../src/pages/BucketsPage.tsx";
import { keyWords } from "../src/state/keys.ts";
import { useRows } from "../src/state/rows.ts";
import type { Trial } from "../src/text/trials.ts";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const press = (key: string) => act(() => void fireEvent.keyDown(document.activeElement ?? document.body, { key }));
const focused = () => document.activeElement?.textContent;

const trial = (id: string): Trial => ({
  id, metric: 1, values: {}, state: "SUCCEEDED", step: undefined, start: undefined, end: undefined, stoppedEarly: false, reason: "",
  points: [],
});

function Trials() {
  const trials = ["1", "2", "3"].map(trial);
  const rows = useRows({ name: "trials", items: trials, idOf: ({ id }) => id, open: () => undefined });
  return (
    <TrialTable trials={trials} parameters={[]} metric="m" best="2" order={{ column: "trial", descending: false }}
                onOrder={() => undefined} to={(id) => `/t/${id}`} rows={rows} />
  );
}

it("j and k move the focus in the table of trials", async () => {
  vi.stubGlobal("ResizeObserver", class { observe() {} disconnect() {} });
  render(<Trials />);
  for (const [key, text] of [["j", "1"], ["j", "2"], ["k", "1"]] as const) {
    await press(key);
    await waitFor(() => expect(focused()).toBe(text));
  }
});

it("j and k move the focus in the table of buckets", async () => {
  vi.stubGlobal("IntersectionObserver", class { observe() {} disconnect() {} });
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ items: ["a", "b", "c"].map((name) => ({ name })) })));
  render(<BucketsPage />);
  await screen.findByText("c");
  await waitFor(() => expect(Object.fromEntries(keyWords())).toHaveProperty("j k")); // they are listened to
  for (const [key, text] of [["j", "a"], ["j", "b"], ["j", "c"], ["k", "b"]] as const) {
    await press(key);
    await waitFor(() => expect(focused()).toBe(text));
  }
  expect(document.querySelector("tr.current")?.textContent).toContain("b");
  act(() => screen.getByRole("button", { name: "Delete the bucket a" }).focus());
  await waitFor(() => expect(document.querySelector("tr.current")?.textContent).toContain("a"));
});
