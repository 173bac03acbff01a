import { expect, it } from "vitest";
import {
  bucketAddress, entriesOf, folderOf, foldersTo, lastPart, prefixOf, wrongBucketName,
} from "../src/text/objects.ts";
import { hexDump, imageType, isBinary, kindOf, parseTable, prettyJson } from "../src/text/preview.ts";
import { match } from "../src/router.ts";

it("lists folders and objects by name, without the folder's own object", () => {
  const page = { prefixes: ["a/c/"], items: [{ name: "a/" }, { name: "a/d" }, { name: "a/b" }] };
  expect(entriesOf(page, "a/").map(({ name }) => name)).toEqual(["a/b", "a/c/", "a/d"]);
});

it("takes names apart", () => {
  expect(["a/b/", "a/b", "b", "/", "a//"].map(lastPart)).toEqual(["b/", "b", "b", "/", "/"]);
  expect(["a/b/", "a/b", "b"].map(folderOf)).toEqual(["a/", "a/", ""]);
  expect(foldersTo("a/b/")).toEqual(["a/", "a/b/"]);
  expect(foldersTo("")).toEqual([]);
});

const FOLDERS = ["", "a/", "a b/ü%2F/", "a/../", "./", "//", "a//b/", "a?b#c/", "<b>/", "\u202e/"];

it.each(FOLDERS)("has an address for the folder %j", (prefix) => {
  const url = new URL(`http://x/ui${bucketAddress("b-1", prefix, `${prefix}o`)}`);
  const path = url.pathname.slice("/ui".length);
  const found = match("/buckets/:bucket/:path*", path) ?? match("/buckets/:bucket", path);
  expect(found?.["bucket"]).toBe("b-1");
  expect(prefixOf(found?.["path"] ?? "", url.searchParams)).toBe(prefix);
  expect(url.searchParams.get("object")).toBe(`${prefix}o`);
});

it("says why a bucket cannot be called so", () => {
  expect(["runs-1", "a.b_c"].map(wrongBucketName)).toEqual(["", ""]);
  for (const wrong of ["ab", "A-b", "-ab", "ab-", "a b", "x".repeat(64)]) expect(wrongBucketName(wrong)).not.toBe("");
});

const bytes = (text: string) => new TextEncoder().encode(text);
const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

it("knows an object by its bytes, whatever it is called", () => {
  expect(kindOf("a.txt", png)).toBe("image");
  expect(imageType(bytes("RIFF\u0001\u0001\u0001\u0001WEBP"))).toBe("image/webp");
  expect(kindOf("a.png", bytes("<script>alert(1)</script>"))).toBe("text");
  expect(kindOf("a.svg", bytes("<svg onload='alert(1)'/>"))).toBe("text");
  expect(kindOf("x/events.out.tfevents.1.host", new Uint8Array([1, 0, 0]))).toBe("events");
  expect(["a.json", "b.CSV", "c.html"].map((name) => kindOf(name, bytes("{}")))).toEqual(["json", "csv", "text"]);
  const some = [new Uint8Array([65, 0]), bytes("Grüße"), new Uint8Array(99).fill(0xfe)];
  expect(some.map(isBinary)).toEqual([true, false, true]);
});

it("shows bytes", () => {
  expect(hexDump(bytes("<b>\u0001"))).toBe(`000000  3c 62 3e 01${" ".repeat(36)}  <b>.`);
});

it("shows JSON indented, and tables as tables", () => {
  expect([prettyJson('{"a":[1]}'), prettyJson("{")]).toEqual(['{\n  "a": [\n    1\n  ]\n}', null]);
  expect(parseTable('a,b\r\n"x, ""y""\n z",2\n', ",").rows).toEqual([["a", "b"], ['x, "y"\n z', "2"]]);
  expect(parseTable("a\tb\n\n1\t2", "\t").rows).toEqual([["a", "b"], [""], ["1", "2"]]);
  expect(parseTable("1\n2\n3\n", ",", 2)).toEqual({ rows: [["1"], ["2"]], more: true });
  expect(parseTable("1,2,3", ",", 9, 2)).toEqual({ rows: [["1", "2"]], more: true });
  expect(parseTable("a,b\n1,", ",").rows).toEqual([["a", "b"], ["1"]]);
});
