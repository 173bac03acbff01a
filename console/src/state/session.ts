// Who the reader is.
import type { SessionJson } from "proto/control/v1/session_pb";
import { createContext } from "preact";
import { useContext } from "preact/hooks";

export const SessionContext = createContext<SessionJson>({});

export function useSession(): SessionJson {
  return useContext(SessionContext);
}

const PROJECT_KEY = "trainyard.project";

/** The project that was looked at last in this browser: one that there is. */
export function lastProject(): string | null {
  return localStorage.getItem(PROJECT_KEY);
}

/** Another reader of this browser may have no rights in it. */
export function forgetProject(): void {
  localStorage.removeItem(PROJECT_KEY);
}

export function rememberProject(project: string): void {
  localStorage.setItem(PROJECT_KEY, project);
}
