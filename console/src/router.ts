// Every view is an address: what a page shows is in its path and query, and nowhere else.
import { useEffect, useState } from "preact/hooks";

/** Where the reader is: the path below /ui without a slash at its end, and the query. */
export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** What a page is given: what its pattern found in the path. */
export type PageProps = Readonly<Record<string, string>>;

export const BASE = "/ui";

export function here(): Place {
  const path = location.pathname.slice(BASE.length).replace(/\/$/, "");
  return { path: path === "" ? "/" : path, query: new URLSearchParams(location.search) };
}

const MOVED = "trainyard:moved";

/** Goes to an address below /ui. `replace` for what is no step of its own: another sort order, a filter that is typed. */
export function go(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(history.state, "", BASE + to);
  else {
    history.replaceState({ ...history.state, scroll: scrollY }, "");
    history.pushState(null, "", BASE + to);
    scrollTo(0, 0);
  }
  dispatchEvent(new Event(MOVED));
}

/** Changes some of the query and stays where it is; null removes a parameter. */
export function setQuery(changes: Record<string, string | null>, { replace = true } = {}): void {
  const place = here();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") place.query.delete(name);
    else place.query.set(name, value);
  }
  const query = place.query.toString();
  go(place.path + (query === "" ? "" : "?" + query), { replace });
}

export function usePlace(): Place {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const moved = () => setPlace(here());
    addEventListener("popstate", moved);
    addEventListener(MOVED, moved);
    return () => {
      removeEventListener("popstate", moved);
      removeEventListener(MOVED, moved);
    };
  }, []);
  return place;
}

/**
 * What a pattern such as "/p/:project/jobs/:job" says of a path, decoded; null: it is another path. A last part ":name*"
 * takes the rest, with its slashes.
 */
export function match(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split("/");
  const given = path.split("/");
  const found: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    if (part.startsWith(":") && part.endsWith("*")) {
      found[part.slice(1, -1)] = given.slice(at).map(decode).join("/");
      return found;
    }
    const value = given[at];
    if (value === undefined || (!part.startsWith(":") && part !== value)) return null;
    if (part.startsWith(":")) {
      if (value === "") return null;
      found[part.slice(1)] = decode(value);
    }
  }
  return wanted.length === given.length ? found : null;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
