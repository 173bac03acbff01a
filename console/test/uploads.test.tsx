import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { UploadList } from "../src/components/UploadList.tsx";
import { uploads, useArrived } from "../src/state/uploads.ts";

/** A request that is answered when a test says so. */
class Request {
  static all: Request[] = [];
  readonly upload: { onprogress?: (event: { loaded: number }) => void } = {};
  status = 0;
  responseText = "";
  onload = () => undefined as unknown;
  onerror = () => undefined as unknown;
  url = "";
  readonly send = vi.fn(() => void Request.all.push(this));
  readonly abort = vi.fn();
  readonly setRequestHeader = vi.fn();
  open(_: string, url: string) {
    this.url = url;
  }
  answer(status: number, text = "{}") {
    this.status = status;
    this.responseText = text;
    act(() => void this.onload());
  }
}

const file = (name: string) => ({ file: new File(["12345"], name), name: `in/${name}` });
const leave = () => !dispatchEvent(new Event("beforeunload", { cancelable: true }));

beforeEach(() => {
  Request.all = [];
  vi.stubGlobal("XMLHttpRequest", Request);
});
afterEach(() => {
  uploads.clear();
  cleanup();
  vi.unstubAllGlobals();
});

it("goes on and is seen whatever page is shown, and asks before the tab is closed", async () => {
  const page = render(<UploadList />);
  act(() => uploads.add("b", ["1", "2", "3", "4"].map(file)));
  expect(Request.all.map(({ url }) => new URL(url, "http://x").searchParams.get("name"))).toEqual(["in/1", "in/2", "in/3"]);
  expect(leave()).toBe(true);
  page.unmount();
  Request.all[0]?.answer(200);
  expect(Request.all.length).toBe(4);
  render(<UploadList />);
  expect((await screen.findByRole("status")).textContent).toBe("Uploading 3 files, 5 B of 20 B");
  for (const request of Request.all.slice(1)) request.answer(200);
  await waitFor(() => expect(screen.getByRole("status").textContent).toBe("4 files uploaded, 20 B of 20 B"));
  expect(leave()).toBe(false);
  fireEvent.click(screen.getByText("Close"));
  await waitFor(() => expect(screen.queryByRole("status")).toBeNull());
});

it("says what failed, and sends it again; replaces only when told to", async () => {
  render(<UploadList />);
  act(() => uploads.add("b", ["1", "2"].map(file)));
  Request.all[0]?.answer(403, JSON.stringify({ error: { message: "No \u202ewrite." } }));
  Request.all[1]?.answer(412);
  expect(await screen.findByText("No ⟨202E⟩write.")).toBeTruthy();
  expect(screen.getByRole("status").textContent).toContain("1 failed");
  fireEvent.click(screen.getByText("Try 1 file again"));
  fireEvent.click(screen.getByText("Replace 1 object"));
  expect(Request.all.slice(2).map(({ url }) => url.includes("ifGenerationMatch=0"))).toEqual([true, false]);
});

it("tells folders of their bucket when all is there", () => {
  const arrived = vi.fn();
  const Folder = () => (useArrived("b", arrived), null);
  render(<Folder />);
  uploads.add("other", [file("1")]);
  Request.all[0]?.answer(200);
  uploads.add("b", ["1", "2"].map(file));
  Request.all[1]?.answer(200);
  expect(arrived).not.toHaveBeenCalled();
  Request.all[2]?.answer(200);
  expect(arrived).toHaveBeenCalledOnce();
});

it("stops what is on its way", () => {
  uploads.add("b", ["1", "2", "3", "4"].map(file));
  uploads.clear();
  expect(Request.all.map(({ abort }) => abort.mock.calls.length)).toEqual([1, 1, 1]);
  expect([uploads.all.length, leave()]).toEqual([0, false]);
});
