import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { createRef } from "preact";
import { afterEach, expect, it, vi } from "vitest";
import { LogGoTo } from "../src/components/log/LogGoTo.tsx";
import { LogSearchBox } from "../src/components/log/LogSearchBox.tsx";
import { RowView } from "../src/log/row_painter.ts";
import { lineOf } from "../src/text/log_lines.ts";

afterEach(cleanup);

it("goes to lines and times, and says what it does not understand", async () => {
  const [line, time] = [vi.fn(), vi.fn(async () => undefined)];
  render(<LogGoTo near={0} onLine={line} onTime={time} />);
  const box = screen.getByLabelText("Go to a line or a time");
  const enter = async (text: string) => {
    await act(() => void fireEvent.input(box, { target: { value: text } }));
    await act(() => void fireEvent.submit(box.closest("form") as HTMLFormElement));
  };
  await enter("1,234");
  expect(line).toHaveBeenCalledWith(1234);
  await enter("2026-01-02 03:04");
  expect(time).toHaveBeenCalledWith(new Date(2026, 0, 2, 3, 4).getTime());
  await enter("tomorrow");
  await waitFor(() => expect(screen.getByRole("alert")).toBeTruthy());
});

it("searches when asked to, and steps with Enter", async () => {
  const [change, next] = [vi.fn(), vi.fn()];
  const box = (text: string) => (
    <LogSearchBox input={createRef()} text={text} regex={false} search={undefined} at={undefined} total={9}
                  onChange={change} onNext={next} />
  );
  const { rerender } = render(box(""));
  const input = screen.getByLabelText("Search the log");
  fireEvent.input(input, { target: { value: "loss" } });
  await waitFor(() => expect((input as HTMLInputElement).value).toBe("loss"));
  fireEvent.keyDown(input, { key: "Enter" });
  expect(change).toHaveBeenCalledWith("loss", false);
  rerender(box("loss"));
  fireEvent.keyDown(input, { key: "Enter", shiftKey: true });
  expect(next).toHaveBeenCalledWith(true);
});

const LOOK = { find: "", isMatch: () => false, chosen: null };

it.each([
  ["<script>alert(1)</script><img src=x onerror=alert(1)>", "<script>alert(1)</script><img src=x onerror=alert(1)>"],
  ["a\u202eb\u0000\u001b[2J\u001b[5n", "a⟨202E⟩b^@^[[5n"],
  ["\u001b[31m<b>\u001b[0m", "<b>"],
])("shows %j as text", (text, shown) => {
  const row = new RowView();
  for (const find of ["", "b", "script"]) {
    row.paint(1, lineOf({ number: "1", text, replica: "<i>", json: { "<u>": 1 } }), { ...LOOK, find });
    expect(row.element.querySelector(".log-text")?.textContent).toBe(`${shown} {"<u>":1}`);
    expect(row.element.querySelector("script, img, b, i, u")).toBeNull();
  }
});

it("cuts a long line, and offers all of it", () => {
  const row = new RowView();
  row.paint(1, lineOf({ text: "x".repeat(10_000), textBytes: "1000000" }), LOOK);
  expect(row.element.querySelector(".log-text")?.textContent?.length).toBe(4000);
  expect(row.element.querySelector("button")?.textContent).toBe("show all (977 KiB)");
});

it.each([
  [{ severity: "ERROR" as const, severityOfStream: true }, "log-row stderr", "stderr"],
  [{ severity: "ERROR" as const }, "log-row bad", "error"],
  [{ severity: "WARNING" as const }, "log-row warn", "warn"],
  [{ severity: "INFO" as const }, "log-row", "info"],
])("%j is as loud as it was meant", (line, names, mark) => {
  const row = new RowView();
  row.paint(1, lineOf({ text: "100%|####|", ...line }), LOOK);
  expect([row.element.className, row.element.querySelector(".log-severity")?.textContent]).toEqual([names, mark]);
  row.paint(2, lineOf({ text: "next" }), LOOK);
  expect(row.element.className).toBe("log-row");
});
