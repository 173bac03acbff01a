// Requests to the server, and how it refuses them.
import { sessionSecret } from "./secret.ts";

/** What the server said instead of an answer. `message` is its own sentence. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code = "",
    readonly field = "",
  ) {
    super(message);
  }
}

/** Dispatched on window when the server wants to know who asks. */
export const LOGIN_NEEDED = "trainyard:login-needed";

/** Requests that change something show that a page of ours sends them. Where nobody logs in there is nothing to show. */
function ours(): Record<string, string> {
  const secret = sessionSecret();
  return secret === null ? {} : { "X-Trainyard-Console": secret };
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await send(path, { signal: signal ?? null })).json() as Promise<T>;
}

export async function sendJson<T>(method: "POST" | "PATCH" | "PUT" | "DELETE", path: string, body?: unknown,
                                  signal?: AbortSignal): Promise<T> {
  const init: RequestInit = { method, headers: ours(), signal: signal ?? null };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...ours(), "Content-Type": "application/json" };
  }
  const text = await (await send(path, init)).text();
  return (text === "" ? {} : JSON.parse(text)) as T;
}

/** Any request; an answer that is no success is an ApiError. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "The server does not answer.");
  }
  if (response.ok) return response;
  if (response.status === 401) dispatchEvent(new Event(LOGIN_NEEDED));
  throw await errorOf(response);
}

/** Headers for requests that send() is given and that change something. */
export const changing = (type: string): HeadersInit => ({ ...ours(), "Content-Type": type });

interface ErrorBody {
  error?: {
    message?: string;
    status?: string;
    details?: { fieldViolations?: { field?: string; description?: string }[] }[];
  };
}

/** The API's form of a refusal; the field is said beside it. A job's id is called "name" there, which nobody typed. */
const FIELD_WORDS = /Field: \S+ Error: /g;

/** A refusal as a reader gets it: "Field: region Error: It must be ..." is "It must be ...". */
export function reasonOf(message: string): string {
  return message.replace(FIELD_WORDS, "");
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  try {
    const error = (JSON.parse(text) as ErrorBody).error;
    const violation = error?.details?.flatMap((detail) => detail.fieldViolations ?? [])[0];
    if (error?.message) return new ApiError(response.status, reasonOf(error.message), error.status, violation?.field);
  } catch {
    // Not ours: a proxy before the server answers with a page.
  }
  return new ApiError(response.status, `The server answered ${response.status} ${response.statusText}`.trim() + ".");
}

/** A path with a query, of what is given: undefined, "" and false leave a parameter out; a list repeats it. */
export function withQuery(path: string,
                          query: Record<string, string | number | boolean | readonly string[] | undefined>): string {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "" || value === false) continue;
    for (const one of Array.isArray(value) ? value : [value]) all.append(name, String(one));
  }
  const text = all.toString();
  return text === "" ? path : `${path}?${text}`;
}
