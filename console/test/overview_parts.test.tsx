import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, expect, it, vi } from "vitest";
import { FactTable } from "../src/components/FactTable.tsx";
import { JobCause } from "../src/components/JobCause.tsx";
import { LabelEditor } from "../src/components/LabelEditor.tsx";
import { LifeList } from "../src/components/LifeList.tsx";

const NASTY = "<img src=x onerror=alert(1)>\u202eb";
afterEach(cleanup);

it("labels are replaced as a whole, and a refusal stays", async () => {
  const asked: string[] = [];
  let status = 400;
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    asked.push(`${init.method} ${path} ${init.body}`);
    return new Response(JSON.stringify(status === 200 ? {} : { error: { message: `No ${NASTY}` } }), { status });
  });
  const saved = vi.fn();
  render(<LabelEditor project="p" job="j" labels={{ b: "2", a: "1" }} saved={saved} />);
  fireEvent.click(screen.getByText("Edit labels"));
  fireEvent.input(screen.getByLabelText("Value of label 1"), { target: { value: "9" } });
  fireEvent.click(screen.getByLabelText("Remove label 2"));
  fireEvent.click(screen.getByText("Save"));
  expect((await screen.findByRole("alert")).textContent).toBe("No <img src=x onerror=alert(1)>⟨202E⟩b");
  expect(saved).not.toHaveBeenCalled();
  status = 200;
  fireEvent.click(screen.getByText("Save"));
  await waitFor(() => expect(saved).toHaveBeenCalled());
  expect(asked.at(-1)).toBe('PATCH /v1/projects/p/jobs/j?updateMask=labels {"labels":{"a":"9"}}');
});

it("editing labels keeps the focus where the reader is", async () => {
  vi.stubGlobal("fetch", async () => new Response("{}"));
  render(<LabelEditor project="p" job="j" labels={{ a: "1" }} saved={() => undefined} />);
  const focus = () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent;
  fireEvent.click(screen.getByText("Edit labels"));
  await waitFor(() => expect(focus()).toBe("Key of label 1"));
  fireEvent.click(screen.getByText("Add"));
  await waitFor(() => expect(focus()).toBe("Key of label 3"));
  fireEvent.click(screen.getByLabelText("Remove label 3"));
  await waitFor(() => expect(focus()).toBe("Key of label 2"));
  fireEvent.keyDown(screen.getByLabelText("Key of label 2"), { key: "Escape" });
  await waitFor(() => expect(focus()).toBe("Edit labels"));
  fireEvent.click(screen.getByText("Edit labels"));
  fireEvent.click(await screen.findByText("Save"));
  await waitFor(() => expect(focus()).toBe("Edit labels"));
});

it("a failure leads to its traceback, not to what stderr says before and after it", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    const isFirst = asked.length === 1;
    const matches = { searchedTo: isFirst ? "90" : "0", lines: isFirst ? [] : [{ number: "41" }] };
    const window = { lines: [{ number: "7", severity: "ERROR", text: "loading" }] };
    return new Response(JSON.stringify(path.includes("log:search") ? matches : window));
  });
  const cause = { tone: "bad", title: NASTY, advice: "Do.", replica: "worker-replica-1", traceback: true, whole: "" } as const;
  const { container, rerender } = render(<JobCause project="p" job="j" cause={cause} />);
  const link = await screen.findByText("The traceback in the log");
  expect(link.getAttribute("href")).toBe("/ui/p/p/jobs/j/logs?line=41");
  expect(asked.map((path) => new URL(path, "http://x").searchParams.get("from"))).toEqual([null, "90"]);
  expect(asked[0]).toContain("replica=worker-replica-1");
  expect(container.querySelector("img")).toBeNull();
  rerender(<JobCause project="p" job="j" cause={{ ...cause, traceback: false }} />);
  expect((await screen.findByText("The last line of stderr in the log")).getAttribute("href")).toBe("/ui/p/p/jobs/j/logs?line=7");
});

it("a long life is shown from its end", () => {
  render(
    <LifeList
      entries={Array.from({ length: 40 }, (_, at) => ({ seq: String(at + 1), time: "2026-01-01T00:00:00Z", text: `e${at + 1}` }))}
    />,
  );
  expect(screen.getAllByRole("listitem").map((item) => item.textContent?.includes("e40"))[0]).toBe(true);
  expect(screen.queryByText("e10")).toBeNull();
  fireEvent.click(screen.getByText("Show 10 earlier"));
  expect(screen.getByText("e1")).toBeTruthy();
});

it("a table leaves out columns without anything, and rows behind a button", () => {
  const columns = [
    { name: "A", cell: (row: number) => row },
    { name: "B", cell: () => "" },
  ];
  render(<FactTable label="T" columns={columns} rows={[1, 2, 3]} id={String} first={2} />);
  expect(screen.queryByText("B")).toBeNull();
  expect(screen.queryByText("3")).toBeNull();
  fireEvent.click(screen.getByText("Show 1 more"));
  expect(screen.getByText("3")).toBeTruthy();
});
