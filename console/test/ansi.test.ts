import { expect, it } from "vitest";
import { ansiParts, contrast, readable } from "../src/text/ansi.ts";

const E = "\u001b";
const text = (line: string) => ansiParts(line).map((part) => part.text).join("");

it("takes colours out of the text, and keeps what it does not know", () => {
  expect(ansiParts("plain")).toEqual([{ text: "plain", look: null }]);
  expect(text(`${E}[1;31mred${E}[0m plain`)).toBe("red plain");
  expect(text(`${E}]0;title\u0007${E}[5n`)).toBe(`${E}]0;title\u0007${E}[5n`);
  expect(text(`${E}[31`)).toBe(`${E}[31`);
});

it("leaves out where a bar moves the cursor, in the colour that goes on", () => {
  expect(text(`${E}[A${E}[2K${E}[?25linner 3/9${E}[1;5H${E}[?25h`)).toBe("inner 3/9");
  const [one, two] = ansiParts(`${E}[1ma${E}[Ab`);
  expect([one?.look, two?.look]).toEqual([{ bold: true }, { bold: true }]);
});

it("knows weights, lines and what ends them", () => {
  const [one, two, three] = ansiParts(`${E}[1;3;4;9ma${E}[22;23;24;29mb${E}[7mc${E}[m`);
  expect(one?.look).toEqual({ bold: true, italic: true, underline: true, strike: true });
  expect(two?.look).toBeNull();
  expect(three?.look).toEqual({ color: "var(--paper)", background: "var(--ink)" });
});

it.each([
  ["[31m", /^light-dark\(#[0-9a-f]{6}, #[0-9a-f]{6}\)$/],
  ["[95m", /^light-dark\(/],
  ["[38;5;208m", /^light-dark\(/],
  ["[38:5:240m", /^light-dark\(/],
  ["[38;2;255;255;0m", /^light-dark\(/],
])("gives %s a colour for each theme", (code, color) => {
  expect(ansiParts(`${E}${code}x`)[0]?.look?.color).toMatch(color);
});

it("shows nothing in the colour of its ground", () => {
  const look = ansiParts(`${E}[97;107mhidden`)[0]?.look;
  expect(look?.background).toBe("#ffffff");
  expect(look?.color).not.toBe("#ffffff");
  expect(ansiParts(`${E}[48;5;300;38;5;999mx`)[0]?.look).toBeNull();
});

it("makes every colour readable", () => {
  for (let code = 0; code < 512; code += 7) {
    const color = [(code * 37) % 256, (code * 91) % 256, (code * 53) % 256] as const;
    for (const paper of [[255, 255, 255], [0, 0, 0], [128, 128, 128], [29, 43, 73]] as const) {
      expect(contrast(readable(color, paper), paper)).toBeGreaterThanOrEqual(4.5);
    }
  }
});
