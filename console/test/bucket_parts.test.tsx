import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, expect, it, vi } from "vitest";
import { DeleteEntry } from "../src/components/buckets/DeleteEntry.tsx";
import { NameDialog } from "../src/components/buckets/NameDialog.tsx";
import { BucketsPage } from "../src/pages/BucketsPage.tsx";
import { wrongBucketName } from "../src/text/objects.ts";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

/** What was asked for; answers in turn. */
function server(...answers: unknown[]) {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    asked.push(`${init?.method ?? "GET"} ${path}`);
    const isDelete = init?.method === "DELETE";
    return new Response(JSON.stringify(isDelete ? answers.shift() : { objects: "70", bytes: "1024" }));
  });
  return asked;
}

it("deletes a folder part by part, after a question that names it", async () => {
  const asked = server({ objects: "40", more: true }, { objects: "30" });
  const deleted = vi.fn();
  render(<DeleteEntry bucket="b" entry={{ name: "a/<i>/", object: undefined }} onClose={() => undefined} onDeleted={deleted} />);
  expect(screen.getByText("Delete the folder a/<i>/?")).toBeTruthy();
  expect(asked.some((one) => one.startsWith("DELETE"))).toBe(false);
  fireEvent.click(screen.getByText("Delete"));
  await waitFor(() => expect(deleted).toHaveBeenCalledOnce());
  const folder = "DELETE /trainyard/v1/buckets/b/folder?prefix=a%2F%3Ci%3E%2F";
  expect(asked.filter((one) => one.startsWith("DELETE"))).toEqual([folder, folder]);
});

it("deletes one object by its encoded name", async () => {
  const asked = server({});
  const deleted = vi.fn();
  render(<DeleteEntry bucket="b" entry={{ name: "a/../c?#", object: {} }} onClose={() => undefined} onDeleted={deleted} />);
  fireEvent.click(screen.getByText("Delete"));
  await waitFor(() => expect(deleted).toHaveBeenCalledOnce());
  expect(asked).toEqual(["DELETE /storage/v1/b/b/o/a%2F..%2Fc%3F%23"]);
});

it("says why a name cannot be taken, and makes nothing of it", async () => {
  const make = vi.fn(async () => undefined);
  const close = () => undefined;
  render(<NameDialog title="New bucket" label="Name" verb="Create" wrong={wrongBucketName} act={make} onClose={close} />);
  const box = screen.getByLabelText("Name");
  fireEvent.input(box, { target: { value: "A!" } });
  await waitFor(() => expect(box.getAttribute("aria-invalid")).toBe("true"));
  fireEvent.submit(box.closest("form") as HTMLFormElement);
  expect(make).not.toHaveBeenCalled();
  fireEvent.input(box, { target: { value: "runs-1" } });
  await waitFor(() => expect(box.getAttribute("aria-invalid")).toBe("false"));
  fireEvent.submit(box.closest("form") as HTMLFormElement);
  await waitFor(() => expect(make).toHaveBeenCalledWith("runs-1"));
});

it("lists the buckets of all pages, and sums up those that are in view", async () => {
  const asked: string[] = [];
  const pages = [{ items: [{ name: "a" }, { name: "b" }], nextPageToken: "more" }, { items: [{ name: "c" }] }];
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    return new Response(JSON.stringify(path.startsWith("/storage") ? pages.shift() : { objects: "70", bytes: "1024" }));
  });
  const views: { element: Element; look: (entries: object[]) => void }[] = [];
  vi.stubGlobal("IntersectionObserver", class {
    constructor(private readonly look: (entries: object[]) => void) {}
    observe(element: Element) { views.push({ element, look: this.look }); }
    disconnect() {}
  });
  render(<BucketsPage />);
  await screen.findByText("c");
  const list = "/storage/v1/b?project=trainyard&maxResults=1000";
  expect(asked).toEqual(["/v1/projects", list, `${list}&pageToken=more`]);
  await waitFor(() => expect(views.length).toBe(3));
  views[1]?.look([{ isIntersecting: true }]);
  await screen.findByText("in 70 objects");
  expect(asked.slice(3)).toEqual(["/trainyard/v1/buckets/b/folder:summarize?prefix="]);
});
