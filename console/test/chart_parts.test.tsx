import { act, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BrushAxis } from "../src/components/BrushAxis.tsx";
import { ChartLegend } from "../src/components/ChartLegend.tsx";
import { ChartTable } from "../src/components/ChartTable.tsx";
import { CompareTable } from "../src/components/CompareTable.tsx";
import { TrialTable } from "../src/components/TrialTable.tsx";
import type { ChartView } from "../src/text/chart_view.ts";
import { metricAxis } from "../src/text/parameter_axis.ts";
import type { Trial } from "../src/text/trials.ts";

const NASTY = "<img src=x onerror=alert(1)>\u202e\u001b[31m";
const SEEN = "<img src=x onerror=alert(1)>⟨202E⟩^[[31m";
beforeEach(() => document.body.replaceChildren());

const curve = { key: "a", name: NASTY, color: 0, xs: [0, 1, 2], ys: [5, 6, Number.NaN] };
const view: ChartView = {
  curves: [curve], x: "number", logX: false, logY: false, format: String, range: null, include: undefined,
  marks: [{ x: 1, word: "ended", text: NASTY, trouble: true }],
};

describe("a legend", () => {
  const shown = (x: number | null, hidden = new Set<string>(), toggle = vi.fn(), highlight = vi.fn()) =>
    <ChartLegend view={view} curves={view.curves} hidden={hidden} onToggle={toggle} x={x} highlighted={null} onHighlight={highlight} />;
  it("has the last value, and that at the cursor", () => {
    const { container, rerender } = render(shown(null));
    expect(container.querySelector(".value")?.textContent).toBe("6");
    rerender(shown(0.2));
    expect(container.querySelector(".value")?.textContent).toBe("5");
    rerender(shown(2));
    expect(container.querySelector(".value")?.textContent).toBe("–");
  });
  it("hides by a click and shows what has the focus", () => {
    const [toggle, highlight] = [vi.fn(), vi.fn()];
    const { rerender } = render(shown(null, new Set(), toggle, highlight));
    fireEvent.click(screen.getByRole("button"));
    expect(toggle).toHaveBeenCalledWith("a");
    fireEvent.focus(screen.getByRole("button"));
    expect(highlight).toHaveBeenCalledWith("a");
    rerender(shown(null, new Set(["a"]), toggle, highlight));
    expect(screen.getByRole("button").getAttribute("aria-pressed")).toBe("false");
  });
});

it("a chart is a table, with names as text", () => {
  const { container } = render(<ChartTable view={view} />);
  expect(container.querySelector("img")).toBeNull();
  expect(container.querySelector("tbody th")?.textContent).toBe(SEEN);
  expect([...container.querySelectorAll("tbody td")].map((cell) => cell.textContent)).toEqual(["5", "6", "6", "3"]);
  expect(container.querySelector("li")?.textContent).toBe(`1 ${SEEN}`);
});

const trial = (id: string, metric: number, reason = ""): Trial => ({
  id, metric, values: { lr: NASTY }, state: "SUCCEEDED", step: 1, start: undefined, end: undefined, stoppedEarly: false, reason, points: [],
});

describe("a brushed axis", () => {
  const axis = metricAxis("m", [trial("1", 0), trial("2", 10)]);
  const shown = (brush: { from: number; to: number } | undefined, onBrush: (brush: unknown) => void) =>
    <BrushAxis axis={axis} left={0} height={100} room={200} last={false} brush={brush} onBrush={onBrush} />;
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const pressed = (element: HTMLElement, key: string) => {
    fireEvent.keyDown(element, { key });
    act(() => void vi.runAllTimers());
  };
  it("is moved by keys and says where it is", () => {
    const onBrush = vi.fn();
    render(shown({ from: 0.5, to: 1 }, onBrush));
    const [lower, upper] = screen.getAllByRole("slider");
    expect(lower?.getAttribute("aria-valuetext")).toBe("5");
    if (lower === undefined || upper === undefined) throw new Error("two ends");
    pressed(lower, "ArrowUp");
    expect(onBrush).toHaveBeenLastCalledWith({ from: 0.52, to: 1 });
    pressed(upper, "Home");
    expect(onBrush).toHaveBeenLastCalledWith({ from: 0.5, to: 0.52 });
    pressed(lower, "Home");
    expect(onBrush).toHaveBeenLastCalledWith(null);
    pressed(upper, "Escape");
    expect(onBrush).toHaveBeenLastCalledWith(null);
  });
  it("changes the page at most every now and then, and ends with the last", () => {
    const onBrush = vi.fn();
    render(shown(undefined, onBrush));
    const [lower] = screen.getAllByRole("slider");
    for (let at = 0; at < 5; at += 1) if (lower) fireEvent.keyDown(lower, { key: "ArrowUp" });
    expect(onBrush).not.toHaveBeenCalled();
    act(() => void vi.runAllTimers());
    expect(onBrush).toHaveBeenCalledTimes(1);
    expect(onBrush.mock.calls[0]?.[0].from).toBeCloseTo(0.1);
  });
});

describe("a table of trials", () => {
  const shown = (onOrder = vi.fn()) => (
    <TrialTable trials={[trial("1", 0.5, NASTY), trial("2", 0.9)]} metric="acc" best="2" order={{ column: "metric", descending: true }}
                parameters={[{ name: "lr", bounds: undefined, choices: [], scale: "linear" }]} onOrder={onOrder} rows={{ at: -1, place: { focus: undefined, onFocus: () => undefined } }}
                to={(id) => `/t/${id}`} />
  );
  it("marks the best, and shows what was written as text", () => {
    const { container } = render(shown());
    expect(container.querySelector(".trial-row.best")?.textContent).toContain("0.9 ★ best");
    expect(container.querySelector("img")).toBeNull();
    expect(container.textContent).toContain(SEEN);
  });
  it("says which parameters have no room, and gives them columns", () => {
    history.replaceState(null, "", "/ui/p/p/jobs/j/trials");
    const parameters = ["a", "b", "c", "d"].map((name) => ({ name, bounds: undefined, choices: [], scale: "linear" as const }));
    render(<TrialTable trials={[trial("1", 0.5)]} parameters={parameters} metric="acc" best={undefined} rows={{ at: -1, place: { focus: undefined, onFocus: () => undefined } }}
                       order={{ column: "trial", descending: false }} onOrder={() => undefined} to={(id) => id} />);
    expect(screen.getByText("2 of 4 parameters have room here.")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "d" })).toBeNull();
    fireEvent.click(screen.getByText("Show all 4"));
    expect(location.search).toBe("?cols=all");
    expect(screen.getByRole("button", { name: "d" })).toBeTruthy();
    fireEvent.click(screen.getByText("Only those that have room"));
    expect(screen.queryByRole("button", { name: "d" })).toBeNull();
  });
  it("is sorted by a click, the other way by the next", () => {
    const onOrder = vi.fn();
    render(shown(onOrder));
    expect(screen.getAllByRole("columnheader")[2]?.getAttribute("aria-sort")).toBe("descending");
    fireEvent.click(screen.getByRole("button", { name: /acc/ }));
    expect(onOrder).toHaveBeenLastCalledWith({ column: "metric", descending: false });
    fireEvent.click(screen.getByRole("button", { name: "lr" }));
    expect(onOrder).toHaveBeenLastCalledWith({ column: "p:lr", descending: false });
  });
});

it("a comparison says in words what differs, and may leave out the rest", () => {
  const rows = [{ name: NASTY, values: ["1", undefined], differs: true }, { name: "same", values: ["x", "x"], differs: false }];
  const { container, rerender } = render(<CompareTable colors={new Map()} jobs={["a", "b"]} groups={[{ title: "Input", rows }]} differencesOnly={false} />);
  expect(container.querySelector("tr.differs th")?.textContent).toContain("differs:");
  expect(container.querySelectorAll("tbody tr")).toHaveLength(3);
  rerender(<CompareTable colors={new Map()} jobs={["a", "b"]} groups={[{ title: "Input", rows }]} differencesOnly />);
  expect(container.querySelectorAll("tbody tr")).toHaveLength(2);
  expect(container.querySelector("img")).toBeNull();
});

it("a comparison of many tags shows all of them when that is wanted", () => {
  const rows = Array.from({ length: 250 }, (_, at) => ({ name: `tag ${at}`, values: ["1"], differs: false }));
  render(<CompareTable colors={new Map()} jobs={["a"]} groups={[{ title: "Last values", rows }]} differencesOnly={false} />);
  expect(screen.getAllByRole("cell")).toHaveLength(100);
  fireEvent.click(screen.getByText("Show all 250"));
  expect(screen.getAllByRole("cell")).toHaveLength(250);
});
