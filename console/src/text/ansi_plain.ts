/** A line without what only terminals understand: colours, movements, titles. Pure. */
export function withoutEscapes(line: string): string {
  // eslint-disable-next-line no-control-regex
  return line.replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g, "");
}
