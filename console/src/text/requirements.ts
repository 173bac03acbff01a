// requirements.txt as `trainyard run` reads it: src/cli/run/requirements.cc. Pure.

const NESTING_MAX = 10;

/** Whether it names its package: an address alone does not. */
export function isNamed(item: string): boolean {
  return /^[A-Za-z0-9]/.test(item) && !/^[\w+.-]+:\/\//.test(item) && !/^[\w.-]+\.whl$/.test(item);
}

/** Errors, in one sentence: a line that no package's list of requirements can have. `read`: another file's text. */
export function readRequirements(path: string, read: (path: string) => string | undefined, nesting = 0): string[] {
  const text = (nesting < NESTING_MAX ? read(path) : undefined) ?? "";
  const found: string[] = [];
  for (const line of text.replaceAll(/\\\r?\n/g, "").split(/\r?\n/)) {
    const item = line.replace(/(^|\s)#.*$/, "").trim();
    const refuse = (why: string) => new Error(`${path}: “${item}” ${why}.`);
    if (item === "") continue;
    const other = /^(?:-r|--requirement)[\s=]*(.+)$/.exec(item)?.[1];
    if (other !== undefined) {
      if (read(other) === undefined) throw refuse("names a file that was not chosen");
      found.push(...readRequirements(other, read, nesting + 1));
    } else if (item.startsWith("-") || item.includes(" --")) {
      throw refuse("is an option of pip, which is not supported here: remove it");
    } else if (/^(\.|\/|file:)/.test(item)) {
      throw refuse("is a path on your computer: put the package's folder next to the program");
    } else if (!isNamed(item)) {
      throw refuse("does not name the package: write it as “NAME @ URL”");
    } else {
      found.push(item);
    }
  }
  return found;
}
