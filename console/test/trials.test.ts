import { describe, expect, it } from "vitest";
import { brushed, brushesOf, brushText, metricAxis, parameterAxis } from "../src/text/parameter_axis.ts";
import { tuningOfJob, tuningOfStudy } from "../src/text/trial_sources.ts";
import { shortName } from "../src/text/short_name.ts";
import { bestOf, orderOf, orderText, outcome, type Parameter, progress, sorted, type Trial, valueText } from "../src/text/trials.ts";

const trial = (id: string, metric?: number, values: Record<string, string> = {}, more: Partial<Trial> = {}): Trial => ({
  id, metric, values, state: "SUCCEEDED", step: undefined, start: undefined, end: undefined, stoppedEarly: false, reason: "",
  points: [], ...more,
});
const tuning = (trials: readonly Trial[], maximize = true) => ({ metric: "m", maximize, parameters: [], trials });

describe("the best trial", () => {
  const trials = [trial("1", 0.5), trial("2"), trial("3", 0.9), trial("4", Number.NaN), trial("5", 0.9)];
  it("is the first of equals, whichever goal", () => {
    expect(bestOf(tuning(trials))?.id).toBe("3");
    expect(bestOf(tuning(trials, false))?.id).toBe("1");
    expect(bestOf(tuning([trial("1")]))).toBeUndefined();
  });
  it("came about step by step", () => {
    const curve = { xs: [1, 3, 5], ys: [0.5, 0.9, 0.9] };
    expect(progress(tuning(trials))).toEqual({ own: curve, best: curve });
  });
});

describe("order", () => {
  const trials = [trial("10", 1, { a: "x10" }), trial("9", undefined, { a: "x9" }), trial("2", 3, { a: "x2" })];
  it.each([
    ["trial", ["2", "9", "10"]], ["-trial", ["10", "9", "2"]], ["metric", ["10", "2", "9"]],
    ["-metric", ["2", "10", "9"]], ["p:a", ["2", "9", "10"]],
  ])("by %s", (text, ids) => expect(sorted(trials, orderOf(text, true)).map((one) => one.id)).toEqual(ids));
  it("comes back as it was", () => {
    expect(orderText(orderOf("-p:a-b", true), true)).toBe("-p:a-b");
    expect(orderText(orderOf(null, false), false)).toBeNull();
  });
  it.each([[true, ["2", "10", "9"]], [false, ["10", "2", "9"]]])("begins with the best trial, whichever is better", (maximize, ids) =>
    expect(sorted(trials, orderOf(null, maximize)).map((one) => one.id)).toEqual(ids));
  it("a trial that was stopped early is none that ran through", () => {
    expect(outcome(trial("1", 1, {}, { stoppedEarly: true }))).toBe("STOPPED_EARLY");
    expect(outcome(trial("1", 1, {}, { stoppedEarly: true, state: "FAILED" }))).toBe("FAILED");
    expect(outcome(trial("1", 1))).toBe("SUCCEEDED");
  });
  it.each([["0.000001", "1.000e-6"], ["adam", "adam"], [undefined, "–"], ["", ""]])("shows %s as %s", (text, shown) =>
    expect(valueText(text)).toBe(shown));
});

const parameter = (more: Partial<Parameter>): Parameter =>
  ({ name: "p", bounds: { min: 1, max: 100 }, choices: [], scale: "linear", ...more });

describe("axes", () => {
  it("follow the parameter's scale", () => {
    const at = (scale: Parameter["scale"], value: string) =>
      parameterAxis(parameter({ scale }), []).of(trial("1", 0, { p: value }));
    expect(at("linear", "50.5")).toBeCloseTo(0.5);
    expect(at("log", "10")).toBeCloseTo(0.5);
    expect(at("reverseLog", "91")).toBeCloseTo(0.5);
    expect(at("linear", "")).toBeUndefined();
  });
  it.each(["linear", "log", "reverseLog"] as const)("say what is where: %s", (scale) => {
    const axis = parameterAxis(parameter({ scale }), []);
    expect([axis.text(0), axis.text(1)]).toEqual(["1", "100"]);
  });
  it("name powers of ten, choices and discrete values", () => {
    expect(parameterAxis(parameter({ scale: "log" }), []).ticks.map((tick) => tick.text)).toEqual(["1", "10", "100"]);
    expect(parameterAxis(parameter({ bounds: undefined, choices: ["a", "b", "c"] }), []).ticks).toEqual([
      { at: 0, text: "a" }, { at: 0.5, text: "b" }, { at: 1, text: "c" }]);
    const listed = parameterAxis(parameter({ choices: ["1", "16", "100"] }), []);
    expect(listed.ticks.map((tick) => tick.text)).toEqual(["1", "16", "100"]);
  });
  it("have room for values beyond the bounds, and for a single one", () => {
    expect(parameterAxis(parameter({}), [trial("1", 0, { p: "199" })]).of(trial("1", 0, { p: "199" }))).toBe(1);
    expect(metricAxis("m", [trial("1", 3)]).of(trial("1", 3))).toBe(0.5);
  });
  it("are brushed", () => {
    const axes = [parameterAxis(parameter({}), []), metricAxis("p", [trial("1", 0), trial("2", 1)])];
    const trials = [trial("1", 0, { p: "1" }), trial("2", 1, { p: "100" }), trial("3", 1)];
    expect(brushed(trials, axes, new Map([["p:p", { from: 0, to: 0.5 }]])).map((one) => one.id)).toEqual(["1"]);
    expect(brushed(trials, axes, new Map([["metric", { from: 1, to: 1 }]])).map((one) => one.id)).toEqual(["2", "3"]);
    const brushes = new Map([["p:a~b,c", { from: 0.25, to: 0.5 }]]);
    expect(brushesOf(brushText(brushes))).toEqual(brushes);
  });
});

describe("sources", () => {
  it("join what the API and the server know of a job's trials", () => {
    const got = tuningOfJob(
      {
        trainingInput: { hyperparameters: { goal: "MINIMIZE", hyperparameterMetricTag: "loss", params: [
          { parameterName: "lr", type: "DOUBLE", minValue: 0.1, maxValue: 1, scaleType: "UNIT_LOG_SCALE" },
          { parameterName: "size", type: "DISCRETE", discreteValues: [4, 2] },
          { parameterName: "opt", type: "CATEGORICAL", categoricalValues: ["a"] }] } },
        trainingOutput: { trials: [{ trialId: "10", state: "SUCCEEDED", finalMetric: { trainingStep: "7" } }] },
      },
      { trials: [{
        output: { trialId: "2", state: "RUNNING" }, reason: "waits",
        report: { measurements: [{ step: "1", value: "NaN" as never }] },
      }] },
      { stopped: [{ trialId: "10", reason: "below the median" }] },
    );
    expect(got).toMatchObject({ metric: "loss", maximize: false });
    expect(got.parameters.map((one) => [one.bounds, one.choices, one.scale])).toEqual([
      [{ min: 0.1, max: 1 }, [], "log"], [{ min: 2, max: 4 }, ["4", "2"], "linear"], [undefined, ["a"], "linear"]]);
    expect(got.trials.map((one) => [one.id, one.metric, one.step, one.reason])).toEqual([
      ["2", undefined, undefined, "waits"], ["10", 0, 7, "below the median"]]);
    expect(got.trials[0]?.points).toEqual([{ step: 1, value: Number.NaN, at: undefined }]);
  });
  it("read a study with children, zeros and infeasible trials", () => {
    const got = tuningOfStudy(
      { studyConfig: { metrics: [{ metric: "m", goal: "MINIMIZE" }], parameters: [{ parameter: "kind", type: "CATEGORICAL",
        categoricalValueSpec: { values: ["x", "y"] },
        childParameterSpecs: [{ parameter: "n", type: "INTEGER", integerValueSpec: { minValue: "0", maxValue: "5" } }] }] } },
      [
        { name: "projects/p/locations/l/studies/s/trials/1", state: "COMPLETED", parameters: [{ parameter: "n", intValue: "0" }],
          finalMeasurement: { metrics: [{ metric: "other", value: 3 }, { metric: "m", value: 0 }] } },
        { name: "projects/p/locations/l/studies/s/trials/2", state: "COMPLETED", trialInfeasible: true,
          infeasibleReason: "too hot" },
      ],
      undefined,
    );
    expect(got.parameters.map((one) => one.name)).toEqual(["kind", "n"]);
    expect(got.trials.map((one) => [one.id, one.state, one.metric, one.values, one.reason])).toEqual([
      ["1", "COMPLETED", 0, { n: "0" }, ""], ["2", "INFEASIBLE", undefined, {}, "too hot"]]);
  });
});

it("a long name keeps its end, which tells it from its neighbours", () => {
  expect(shortName("units", 10)).toBe("units");
  expect(shortName("hidden_layer_size_12", 10)).toBe("hidd…ze_12");
  expect(shortName("hidden_layer_size_12", 10)).toHaveLength(10);
});
