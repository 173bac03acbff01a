import { describe, expect, it } from "vitest";
import { type ChartView, sentence, yExtent, zoomed } from "../src/text/chart_view.ts";
import { compared, flagsOf, flat } from "../src/text/compare.ts";
import { curvesOf, extended, kindsOf, lastTime, tasksOf, useSeries, withoutFirst } from "../src/text/machine_use.ts";
import { marksOf } from "../src/text/marks.ts";
import { imageSource, summaryTags } from "../src/text/summaries.ts";

const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const point = (from: number, to: number, value: object) => ({ interval: { startTime: at(from), endTime: at(to) }, value });
const series = (type: string, task: string, kind: string, points: object[]) =>
  ({ metric: { type }, resource: { labels: { task_name: task } }, metricKind: kind, points });
const CPU = "ml.googleapis.com/training/cpu/utilization";
const SENT = "ml.googleapis.com/training/network/sent_bytes_count";

describe("machine use", () => {
  const all = useSeries({ timeSeries: [
    series(SENT, "worker-replica-10", "DELTA", [point(10, 20, { int64Value: "500" }), point(10, 10, { int64Value: "9" })]),
    series(CPU, "worker-replica-2", "GAUGE", [point(20, 20, { doubleValue: 0.5 }), point(10, 10, {})]),
    series("x/strange_thing", "master-replica-0", "GAUGE", []),
  ] });
  it("is oldest first, bytes a second", () => {
    expect([...(all[0]?.times ?? [])]).toEqual([10, 20]);
    expect([...(all[0]?.values ?? [])]).toEqual([Number.NaN, 50]);
    expect([...(all[1]?.values ?? [])]).toEqual([0, 0.5]);
  });
  it("is shown by kind and replica", () => {
    expect(kindsOf(all).map((kind) => kind.title)).toEqual(["CPU", "Network sent", "x strange thing"]);
    expect(tasksOf(all)).toEqual(["master-replica-0", "worker-replica-2", "worker-replica-10"]);
    const kind = kindsOf(all)[0];
    const curves = kind && curvesOf(all, kind, tasksOf(all), () => 0);
    expect(curves?.map((curve) => [curve.name, curve.color])).toEqual([["worker-replica-2", 1]]);
  });
  it("goes on without a gap or a point twice", () => {
    const newer = useSeries({ timeSeries: [series(CPU, "worker-replica-2", "GAUGE", [
      point(30, 30, { doubleValue: 0.7 }), point(20, 20, { doubleValue: 0.5 }), point(10, 10, { doubleValue: 1 })])] });
    const longer = extended(all, withoutFirst(newer));
    expect([...(longer[1]?.times ?? [])]).toEqual([10, 20, 30]);
    expect(lastTime(longer)).toBe(30);
    expect(lastTime([])).toBeUndefined();
  });
  it("has marks of events", () => {
    const marks = marksOf([
      { time: at(5), kind: "running", text: "It runs." },
      { time: at(6), kind: "replica_ended", trouble: true, text: "worker failed" },
      { time: at(7), kind: "patched" }, { time: at(8), kind: "running", trialId: "3" }, { kind: "running" },
    ]);
    expect(marks.map(({ x, word }) => [x, word])).toEqual([[5, "running"], [6, "failed"]]);
  });
});

const view = (more: Partial<ChartView>): ChartView =>
  ({ curves: [], x: "number", logX: false, logY: false, format: String, marks: [], range: null, include: undefined, ...more });
const line = (xs: number[], ys: number[]) => ({ key: "a", name: "a", color: 0, xs, ys });

describe("a chart", () => {
  it("shows what is between its ends, and the whole of a share", () => {
    const curves = [line([0, 1, 2, 3], [0.1, 0.2, 0.3, 100])];
    expect(yExtent(view({ curves }), { min: 0, max: 1 }).max).toBeLessThan(0.4);
    const share = view({ curves: [line([0], [0.4])], include: { min: 0, max: 1 } });
    expect(yExtent(share, { min: 0, max: 1 })).toEqual({ min: 0, max: 1 });
  });
  it("zooms round a point; logarithmic axes by factors", () => {
    expect(zoomed(view({ range: { from: 0, to: 10 } }), 0.5, 0)).toEqual({ from: 0, to: 5 });
    const { from, to } = zoomed(view({ range: { from: 1, to: 10_000 }, logX: true }), 0.5);
    expect(from).toBeCloseTo(10);
    expect(to).toBeCloseTo(1000);
  });
  it("is said in a sentence", () => {
    expect(sentence(view({ curves: [line([0, 10], [1, 2])] }))).toBe("1 curve from 0 to 10.");
    expect(sentence(view({}))).toBe("No values.");
  });
});

describe("comparing", () => {
  it("takes flags apart", () => {
    expect([...flagsOf(["--a=1", "--b", "-2", "--c", "x", "--d", "--e", "f=g"])]).toEqual(
      [["--a", "1"], ["--b", "-2"], ["--c", "x"], ["--d", "yes"], ["--e", "f=g"]]);
    expect([...flagsOf(["run", "--x=1", "--x=2"])]).toEqual([["argument 1", "run"], ["--x", "1, 2"]]);
  });
  it("makes fields flat", () => {
    expect([...flat({ a: { b: 1, c: [1, 2] }, d: [{ e: true }], f: undefined })])
      .toEqual([["a.b", "1"], ["a.c", "1, 2"], ["d[0].e", "true"]]);
  });
  it("marks what is not the same for all", () => {
    const job = (rate: string) => ({ state: "SUCCEEDED" as const, trainingInput: { region: "r", args: [`--rate=${rate}`] } });
    const loss = { name: { tag: "loss", run: "eval" }, lastValue: 0.5 };
    const groups = compared([job("1"), job("2"), undefined], [[loss], [], []], 0);
    const rows = groups.flatMap((group) => group.rows.map((row) => [group.title, row.name, row.values, row.differs]));
    expect(rows).toContainEqual(["Arguments", "--rate", ["1", "2", undefined], true]);
    expect(rows).toContainEqual(["Last values", "loss (eval)", ["0.5", undefined, undefined], true]);
    expect(compared([job("1"), job("1")], [[], []], 0).every((group) => group.rows.every((row) => !row.differs))).toBe(true);
  });
});

describe("summaries", () => {
  it("are by tag, oldest step first", () => {
    const tags = summaryTags([{ tag: "a", step: 2, image: true }, { tag: "a", step: 1, image: true }, { tag: "a", text: "t" },
      { tag: "w", histogram: true }]);
    expect(tags.map((tag) => [tag.kind, tag.items.map((item) => item.step)]))
      .toEqual([["image", [1, 2]], ["text", [undefined]], ["histogram", [undefined]]]);
  });
  it.each([
    ["/trainyard/v1/x", "/trainyard/v1/x"], ["javascript:alert(1)", undefined], ["https://elsewhere/x.png", undefined],
    ["//e/x", undefined], [undefined, undefined],
  ])("image %s", (uri, source) => expect(imageSource(uri)).toBe(source));
});
