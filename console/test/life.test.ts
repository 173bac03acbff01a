import { describe, expect, it } from "vitest";
import { lifeInWords, phasesOf } from "../src/text/life.ts";

const at = (second: number) => new Date(second * 1000).toISOString();
const entry = (second: number, kind: string, trouble = false) => ({ time: at(second), kind, trouble, text: kind });
const kinds = (...entries: ReturnType<typeof entry>[]) =>
  phasesOf(entries).map(({ kind, from, to }) => [kind, from / 1000, to === undefined ? undefined : to / 1000]);

describe("a job's life", () => {
  it("is its phases", () => {
    expect(
      kinds(
        entry(0, "created"),
        entry(2, "admitted"),
        entry(3, "launched"),
        entry(9, "running"),
        entry(20, "concluded"),
        entry(21, "ended"),
      ),
    ).toEqual([
      ["queued", 0, 2],
      ["preparing", 2, 9],
      ["running", 9, 20],
      ["ending", 20, 21],
    ]);
  });
  it("goes back to where it was after a retry", () => {
    expect(
      kinds(
        entry(0, "created"),
        entry(1, "admitted"),
        entry(2, "running"),
        entry(5, "retry_decided", true),
        entry(6, "retry_started"),
      ),
    ).toEqual([
      ["queued", 0, 1],
      ["preparing", 1, 2],
      ["running", 2, 5],
      ["restarting", 5, 6],
      ["running", 6, undefined],
    ]);
    expect(
      kinds(
        entry(0, "created"),
        entry(1, "admitted"),
        entry(5, "revoked", true),
        entry(7, "admitted"),
        entry(8, "retry_started"),
      ),
    ).toEqual([
      ["queued", 0, 1],
      ["preparing", 1, 5],
      ["restarting", 5, 8],
      ["preparing", 8, undefined],
    ]);
  });
  it("has marks where something went wrong", () => {
    const phases = phasesOf([
      entry(0, "created"),
      entry(1, "admitted"),
      entry(2, "running"),
      entry(4, "replica_ended", true),
      entry(5, "restart_decided"),
    ]);
    expect(phases.at(-1)?.marks).toEqual([
      { at: 4000, text: "replica_ended" },
      { at: 5000, text: "restart_decided" },
    ]);
  });
  it("is known from its times alone, too", () => {
    expect(phasesOf([], { createTime: at(0), startTime: at(1), endTime: at(3) }).map(({ kind }) => kind)).toEqual([
      "queued",
      "preparing",
    ]);
    expect(phasesOf([], {})).toEqual([]);
  });
  it("is said in words", () => {
    expect(lifeInWords(phasesOf([entry(0, "created"), entry(2, "admitted")]), 62_000)).toBe(
      "Queued 2.0 s, preparing 1 min so far",
    );
  });
});
