import { act, cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, expect, it, vi } from "vitest";
import { JobChips } from "../src/components/JobChips.tsx";
import { JobColumns } from "../src/components/JobColumns.tsx";
import { JobRowHead, JobRowView } from "../src/components/JobRowView.tsx";
import { JobsBefore } from "../src/components/JobsBefore.tsx";
import { kindOf, withBefore, withKind } from "../src/text/job_filter.ts";
import { columnsOf, columnsText } from "../src/text/job_columns.ts";

afterEach(() => {
  cleanup();
  history.replaceState(null, "", "/ui/p/p/jobs");
});

const query = () => new URLSearchParams(location.search);

it("a kind of jobs is a term of the filter", () => {
  expect(withKind("state=FAILED", "tuning")).toBe("state=FAILED AND trainingInput.hyperparameters:*");
  expect(withKind("a=1 OR b=2", "training")).toBe("(a=1 OR b=2) AND NOT trainingInput.hyperparameters:*");
  for (const kind of ["tuning", "training", undefined] as const) {
    expect(kindOf(withKind("NOT trainingInput.hyperparameters:* AND x=1", kind))).toBe(kind);
  }
  expect(withKind("trainingInput.hyperparameters:*", undefined)).toBe("");
});

it("a time of the address bounds the list; what is no time does not", () => {
  expect(withBefore("a=1 OR b=2", "2026-01-31T00:00:00Z")).toBe('(a=1 OR b=2) AND createTime<"2026-01-31T00:00:00.000Z"');
  for (const wrong of [null, "", "tomorrow", '" OR x="']) expect(withBefore("a=1", wrong)).toBe("a=1");
});

it("chips are of the kinds that there are, with counts that are true", () => {
  const change = vi.fn();
  const summary = { jobs: "9", tuning: "2", byState: { FAILED: "1" } };
  const chips = (filter: string) => <JobChips summary={summary} filter={filter} onChange={change} />;
  const { rerender } = render(chips(""));
  fireEvent.click(screen.getByText(/Tuning/));
  expect(change).toHaveBeenLastCalledWith("trainingInput.hyperparameters:*");
  expect(screen.getByRole("group", { name: "Kinds" }).textContent).toBe("Single runs 7Tuning 2");
  rerender(chips("state=FAILED AND trainingInput.hyperparameters:*"));
  expect(screen.getByText(/Tuning/).getAttribute("aria-pressed")).toBe("true");
  fireEvent.click(screen.getByText(/Tuning/));
  expect(change).toHaveBeenLastCalledWith("state=FAILED");
});

it("columns are chosen in the address", () => {
  expect(columnsOf(null, true)).toContain("who");
  expect(columnsOf(null, false)).not.toContain("who");
  expect(columnsOf("ended,what,<b>", false)).toEqual(["what", "ended"]);
  expect([columnsText([], false), columnsOf("none", false)]).toEqual(["none", []]);
  expect(columnsText(columnsOf(null, true).toReversed(), true)).toBeNull();
  render(<JobColumns columns={["what", "labels", "created", "elapsed", "metric"]} named={false} />);
  fireEvent.click(screen.getByText("Columns"));
  fireEvent.click(screen.getByLabelText("Ended"));
  expect(query().get("cols")).toBe("what,labels,created,ended,elapsed,metric");
  fireEvent.click(screen.getByLabelText("Metric"));
  expect(query().get("cols")).toBe("what,labels,created,elapsed");
});

it("a row has the columns that are chosen, and its hints are text", () => {
  const columns = ["what", "trials"] as const;
  const job = { jobId: "j", tuning: true, trials: 2, trialsMax: 5, reason: "no \u202eroom" };
  render(
    <>
      <JobRowHead columns={columns} />
      <JobRowView project="p" job={job} current={false} card={false} columns={columns} onLabel={() => undefined} />
    </>,
  );
  expect(screen.getAllByRole("columnheader").map((cell) => cell.textContent)).toEqual(["State", "Job", "What", "Trials"]);
  expect(screen.getByText("2 of 5")).toBeTruthy();
  expect(screen.getByTitle("no ⟨202E⟩room")).toBeTruthy();
});

it("jumps to a day, and back to the newest", () => {
  const { rerender } = render(<JobsBefore before={null} />);
  const box = screen.getByLabelText("Up to");
  act(() => void fireEvent.change(box, { target: { value: "2026-01-31" } }));
  expect(new Date(query().get("before") ?? "").getTime()).toBe(new Date(2026, 1, 1).getTime());
  rerender(<JobsBefore before={query().get("before")} />);
  expect((box as HTMLInputElement).value).toBe("2026-01-31");
  fireEvent.click(screen.getByText("Newest"));
  expect(query().get("before")).toBeNull();
});
