import { act, cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, expect, it } from "vitest";
import { KeysDialog } from "../src/components/KeysDialog.tsx";
import { keyWords, useKeys } from "../src/state/keys.ts";

afterEach(cleanup);

const act1 = () => undefined;
const Page = () => (useKeys({ j: act1, k: act1, x: act1, "/": act1 }), <p>page</p>);
const Other = () => (useKeys({ g: act1 }, { "g G": "Begin and end" }), <p>other</p>);

it("lists what the keys of the page do, and forgets those of the page before", () => {
  const { rerender } = render(<Page />);
  expect(keyWords()).toEqual([["j k", "Next and previous"], ["/", "Filter or search"]]);
  rerender(<Other />);
  expect(keyWords()).toEqual([["g G", "Begin and end"]]);
  render(<KeysDialog onClose={act1} />);
  expect(screen.getByText("Begin and end").closest("div")?.querySelectorAll("kbd").length).toBe(2);
});

it("leaves keys alone while the reader types or a dialog is open", () => {
  let pressed = 0;
  const Listening = () => (useKeys({ "?": () => (pressed += 1) }), <input aria-label="box" />);
  render(<Listening />);
  act(() => void fireEvent.keyDown(document.body, { key: "?" }));
  act(() => void fireEvent.keyDown(screen.getByLabelText("box"), { key: "?" }));
  act(() => void fireEvent.keyDown(document.body, { key: "?", ctrlKey: true }));
  expect(pressed).toBe(1);
});
