import { render, waitFor } from "@testing-library/preact";
import type { ScalarCurvesJson, ScalarList_ItemJson, ScalarQueryJson } from "proto/control/v1/curves_pb";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { pointsOf } from "../src/api/curves.ts";
import { type CurvePoints, useCurves } from "../src/state/curves.ts";
import type { Range } from "../src/text/columns.ts";

const asked: ScalarQueryJson[] = [];
/** How long each curve is on the server; it gives at most `pointsMax` of them. */
let length = 10;

function answer(query: ScalarQueryJson): ScalarCurvesJson {
  const [from, to] = [Number(query.from ?? 0), Number(query.to ?? 0)];
  const all = Array.from({ length }, (_, at) => at).filter((at) => (from === 0 && to === 0) || (at >= from && at <= to));
  const given = all.slice(0, query.pointsMax);
  return { curves: (query.names ?? []).map((name) => ({ name, steps: given, times: given, values: given, points: String(all.length) })) };
}

beforeEach(() => {
  asked.length = 0;
  length = 10;
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    const query = JSON.parse(String(init.body)) as ScalarQueryJson;
    asked.push(query);
    return Promise.resolve(new Response(JSON.stringify(answer(query))));
  });
});
afterEach(() => vi.unstubAllGlobals());

const items = (count: number): ScalarList_ItemJson[] =>
  Array.from({ length: count }, (_, at) => ({ name: { jobId: "j", run: `r${at}`, tag: "loss" }, points: String(length) }));

let seen: CurvePoints | undefined;
function Reader({ of, range = null, wanted = true }: { readonly of: ScalarList_ItemJson[]; readonly range?: Range | null; readonly wanted?: boolean }) {
  seen = useCurves("p", of, "step", range, wanted);
  return null;
}
const lengths = () => new Set([...(seen?.columns.values() ?? [])].map((columns) => columns.steps.length));

it("asks for twenty curves a request, and for nothing that is not looked at", async () => {
  const { rerender } = render(<Reader of={items(45)} wanted={false} />);
  expect(asked).toEqual([]);
  rerender(<Reader of={items(45)} />);
  await waitFor(() => expect(seen?.columns.size).toBe(45));
  expect(asked.map((query) => query.names?.length)).toEqual([20, 20, 5]);
  expect(lengths()).toEqual(new Set([10]));
});

it("asks only for what is new", async () => {
  const { rerender } = render(<Reader of={items(2)} />);
  await waitFor(() => expect(seen?.columns.size).toBe(2));
  length = 12;
  rerender(<Reader of={items(2)} />);
  await waitFor(() => expect(lengths()).toEqual(new Set([12])));
  expect(asked.map((query) => query.from ?? 0)).toEqual([0, 9]);
  rerender(<Reader of={items(2)} />);
  await waitFor(() => expect(seen?.loading).toBe(false));
  expect(asked).toHaveLength(2);
});

it("asks in detail for what is zoomed to, where curves were thinned", async () => {
  length = pointsOf(1) * 3;
  const { rerender } = render(<Reader of={items(1)} />);
  await waitFor(() => expect(seen?.columns.size).toBe(1));
  expect(seen?.thinned).toBe(true);
  rerender(<Reader of={items(1)} range={{ from: 100, to: 200 }} />);
  await waitFor(() => expect(lengths()).toEqual(new Set([101])));
  expect(seen?.thinned).toBe(false);
  rerender(<Reader of={items(1)} />);
  await waitFor(() => expect(lengths()).toEqual(new Set([pointsOf(1)])));
});

it("says why there is nothing", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify({ error: { message: "No such job." } }), { status: 404 })));
  render(<Reader of={items(1)} />);
  await waitFor(() => expect(seen?.error?.message).toBe("No such job."));
});
