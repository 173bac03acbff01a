import { expect, it } from "vitest";
import { cut, plain, visible } from "../src/text/plain.ts";

it.each([
  ["a\u202eb", "a⟨202E⟩b"], // bidi: override, isolate, mark
  ["\u2066\u061c", "⟨2066⟩⟨061C⟩"],
  ["a\u200bb\u200d\u2060\ufeff", "a⟨200B⟩b⟨200D⟩⟨2060⟩⟨FEFF⟩"], // zero width
  ["\u00ad\u034f\u180e\ufff9", "⟨00AD⟩⟨034F⟩⟨180E⟩⟨FFF9⟩"], // other formats
  ["x\ufe0f\u{e0100}", "x⟨FE0F⟩⟨E0100⟩"], // variation selectors
  ["\u{e0001}\u{e0041}\u{e007f}", "⟨E0001⟩⟨E0041⟩⟨E007F⟩"], // tags
  ["\u115f\u3164\uffa0", "⟨115F⟩⟨3164⟩⟨FFA0⟩"], // fillers
  ["\u2028\u2029\u0085", "⟨2028⟩⟨2029⟩⟨0085⟩"], // line and paragraph separators
  ["\u0000\u001b[2J\u007f\r", "^@^[[2J^?^M"],
  ["tab\tand\nnewline", "tab\tand\nnewline"],
  ["Grüße, 東京, שלום, 😀", "Grüße, 東京, שלום, 😀"],
])("%j is seen as %s", (text, seen) => {
  expect(visible(text)).toBe(seen);
  expect(visible(seen)).toBe(seen);
});

it("cuts no character in half", () => {
  expect(cut("a😀😀", 3)).toBe("a…");
  expect(cut("abc", 3)).toBe("abc");
  expect(plain("\u202e".repeat(3), 2)).toBe("⟨202E⟩…");
});

it("leaves a long text as it is", () => {
  const text = "epoch 12 loss 0.0412 ".repeat(50_000);
  expect(visible(text)).toBe(text);
});
