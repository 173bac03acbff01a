// Which project a page is about that has none in its path.
import type { ProjectListJson } from "../api/projects.ts";
import { paths } from "../api/paths.ts";
import { useJson } from "../api/use.ts";
import { usePlace } from "../router.ts";
import { lastProject, useSession } from "./session.ts";

/**
 * The project that the address names, else the one looked at last, else that of the newest job, else the first in which the
 * reader may do something. null: there is none; undefined: it is not known yet.
 */
export function useHomeProject(): string | null | undefined {
  const { query } = usePlace();
  const { defaultProject } = useSession();
  const known = query.get("project") || lastProject() || defaultProject || null;
  const list = useJson<ProjectListJson>(known === null ? paths.projects() : null);
  if (known !== null) return known;
  if (list.data === undefined) return list.error === undefined ? undefined : null;
  return list.data.projects?.[0]?.projectId ?? null;
}
