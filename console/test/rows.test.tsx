import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, expect, it, vi } from "vitest";
import { VirtualRows } from "../src/components/VirtualRows.tsx";
import { useRows } from "../src/state/rows.ts";

afterEach(cleanup);

const open = vi.fn();

function List({ items }: { readonly items: readonly string[] }) {
  const { at, place } = useRows({ name: "list", items, idOf: (item) => item, open });
  return (
    <VirtualRows count={items.length} rowHeight={20} {...place}
                 row={(row) => (
                   <p class={row === at ? "current" : ""}>
                     <input type="checkbox" aria-label={`Mark ${items[row]}`} />
                     <a href="#x">{items[row]}</a>
                   </p>
                 )} />
  );
}

const press = (key: string) => act(() => void fireEvent.keyDown(document.activeElement ?? document.body, { key }));
const focused = () => document.activeElement?.textContent;
const current = () => document.querySelector(".current")?.textContent;

it("j and k move the focus to the row's link, from wherever the focus is", async () => {
  render(<List items={["a", "b", "c"]} />);
  await press("j");
  await waitFor(() => expect(focused()).toBe("a"));
  await press("j");
  await waitFor(() => expect([focused(), current()]).toEqual(["b", "b"]));
  act(() => screen.getByLabelText("Mark c").focus());
  await waitFor(() => expect(current()).toBe("c"));
  await press("j");
  await waitFor(() => expect(focused()).toBe("c"));
  await press("k");
  await waitFor(() => expect(focused()).toBe("b"));
  await press("Enter"); // presses the link itself
  expect(open).not.toHaveBeenCalled();
});

it("is there before the next key is heard", async () => {
  render(<List items={["a", "b", "c"]} />);
  for (const expected of ["a", "b", "c"]) {
    fireEvent.keyDown(document.activeElement ?? document.body, { key: "j" });
    await Promise.resolve().then(() => Promise.resolve()); // what a browser does between two keys at least
    expect(focused()).toBe(expected);
  }
});

it("Back comes to the row", async () => {
  const page = render(<List items={["a", "b", "c"]} />);
  await press("j");
  await press("j");
  await waitFor(() => expect(focused()).toBe("b"));
  page.unmount();
  const other = render(<List items={["a", "b", "c"]} />);
  expect(current()).toBeUndefined();
  other.unmount();
  history.replaceState({ scroll: 0 }, "");
  render(<List items={["a", "b", "c"]} />);
  await waitFor(() => expect(focused()).toBe("b"));
  history.replaceState(null, "");
});

it("rows that come by themselves take no focus away", async () => {
  const { rerender } = render(<><input aria-label="Filter" /><List items={["a", "b"]} /></>);
  await press("j");
  await waitFor(() => expect(focused()).toBe("a"));
  act(() => screen.getByLabelText("Filter").focus());
  rerender(<><input aria-label="Filter" /><List items={["new", "a", "b"]} /></>);
  expect([document.activeElement?.getAttribute("aria-label"), current()]).toEqual(["Filter", "a"]);
});
