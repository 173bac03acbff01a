// Views of the table of jobs that a reader keeps under a name: each is the query of an address. Pure.

export interface JobView {
  readonly name: string;
  /** "filter=...&cols=...", as in the address. */
  readonly query: string;
}

/** Of a view: which jobs are marked, and down to which day one has jumped, is of the moment. */
const KEPT = ["filter", "cols", "sort", "group"];

export function viewQuery(query: URLSearchParams): string {
  const kept = new URLSearchParams();
  for (const name of KEPT) {
    const value = query.get(name);
    if (value) kept.set(name, value);
  }
  return kept.toString();
}

/** What a browser kept; what is no list of views is none. */
export function readViews(text: string | null): readonly JobView[] {
  try {
    const all: unknown = JSON.parse(text ?? "[]");
    if (!Array.isArray(all)) return [];
    return all.flatMap((one: unknown) => {
      const { name, query } = (one ?? {}) as Partial<JobView>;
      return typeof name === "string" && typeof query === "string" ? [{ name, query }] : [];
    });
  } catch {
    return [];
  }
}

/** By name; another one of the same name gives way. */
export function withView(views: readonly JobView[], view: JobView): readonly JobView[] {
  return [...views.filter(({ name }) => name !== view.name), view].sort((one, other) => one.name.localeCompare(other.name, "en"));
}
