/** A path with its values encoded: address`/p/${project}/jobs`. Pure. */
export function address(parts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return parts.reduce((text, part, at) => text + encodeURIComponent(String(values[at - 1])) + part);
}
