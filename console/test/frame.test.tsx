import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FilterBox } from "../src/components/FilterBox.tsx";
import { Frame } from "../src/components/Frame.tsx";
import { Link } from "../src/components/Link.tsx";
import { usePlace } from "../src/router.ts";

beforeEach(() => {
  history.replaceState(null, "", "/ui/machine");
  vi.stubGlobal("fetch", async () => new Response("{}"));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function Site() {
  const { path } = usePlace();
  return <Frame project={null}>{path === "/machine" ? <Link to="/next">On</Link> : <p>There</p>}</Frame>;
}

it("the focus goes on in the new page, and begins nowhere", async () => {
  render(<Site />);
  expect(document.activeElement).toBe(document.body);
  const link = screen.getByText("On");
  act(() => link.focus());
  fireEvent.click(link);
  await screen.findByText("There");
  await waitFor(() => expect(document.activeElement?.id).toBe("content"));
});

it("? lists keys wherever one is", async () => {
  render(<Site />);
  fireEvent.keyDown(document.body, { key: "?" });
  expect((await screen.findByRole("dialog", { hidden: true })).textContent).toContain("This list");
});

it("Tab leaves the filter at once: its completions are no stop", async () => {
  render(<FilterBox value="" onChange={() => undefined} input={{ current: null }} summary={undefined} />);
  act(() => screen.getByRole("combobox").focus());
  expect((await screen.findByRole("listbox")).tabIndex).toBe(-1);
});
