// Tuning jobs and studies with their trials, up to date.
import type { TuningInsightJson } from "proto/control/v1/tuning_insight_pb";
import type { ListStudiesResponseJson, ListTrialsResponseJson, StudyJson } from "proto/ml/v1/study_pb";
import type { ListLocationsResponseJson } from "proto/ml/v1/ml_pb";
import { useEffect, useMemo } from "preact/hooks";
import { ApiError, getJson, withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { type Resource, useAnswer, useJson } from "../api/use.ts";
import { tuningOfJob, tuningOfStudy } from "../text/trial_sources.ts";
import type { Tuning } from "../text/trials.ts";
import { useEvery } from "./every.ts";
import type { JobFacts } from "./job.ts";

export interface TuningFacts {
  readonly tuning: Tuning | undefined;
  readonly insight: Resource<TuningInsightJson>;
}

/** The trials of a tuning job; undefined until what is known of it is there. */
export function useJobTuning(project: string, job: string, facts: JobFacts): TuningFacts {
  const insight = useJson<TuningInsightJson>(paths.insight(project, job));
  useEffect(() => {
    if (facts.changes > 0) insight.reload();
  }, [facts.changes]);
  const [own, status, failed] = [facts.job.data, facts.status.data, facts.status.error !== undefined];
  const tuning = useMemo(
    () => (own && (status !== undefined || failed) ? tuningOfJob(own, status, insight.data) : undefined),
    [own, status, failed, insight.data],
  );
  return { tuning, insight };
}

/** A study has no stream of changes: it is asked for again while it is looked at. */
const STUDY_MS = 5000;
/** A long one less often. */
const LONG_STUDY = 500;
const LONG_STUDY_MS = 30_000;

export interface StudyFacts extends TuningFacts {
  readonly study: Resource<StudyJson>;
}

export function useStudy(project: string, location: string, study: string): StudyFacts {
  const path = `${paths.studies(project, location)}/${encodeURIComponent(study)}`;
  const one = useJson<StudyJson>(path);
  const trials = useJson<ListTrialsResponseJson>(`${path}/trials`);
  const insight = useJson<TuningInsightJson>(paths.studyInsight(project, location, study));
  const pace = (trials.data?.trials?.length ?? 0) > LONG_STUDY ? LONG_STUDY_MS : STUDY_MS;
  useEvery(one.data?.state === "ACTIVE" ? pace : null, () => {
    one.reload();
    trials.reload();
    insight.reload();
  });
  const tuning = useMemo(
    () => one.data && trials.data && tuningOfStudy(one.data, trials.data.trials ?? [], insight.data),
    [one.data, trials.data, insight.data],
  );
  return { study: trials.error ? { ...one, error: trials.error } : one, tuning, insight };
}

/** All studies of a project, newest first: the API has them by location. */
export function useStudies(project: string): Resource<readonly StudyJson[]> {
  return useAnswer(`studies ${project}`, async (signal) => {
    const names: string[] = [];
    for (let pageToken: string | undefined = ""; pageToken !== undefined;) {
      const page: ListLocationsResponseJson = await getJson(withQuery(paths.locations(project), { pageToken }), signal);
      names.push(...(page.locations ?? []).map((location) => location.name?.split("/").at(-1) ?? ""));
      pageToken = page.nextPageToken || undefined;
    }
    const lists = await Promise.all(names.map((name) => studiesIn(project, name, signal)));
    return lists.flat().sort((one, other) => ((one.createTime ?? "") < (other.createTime ?? "") ? 1 : -1));
  });
}

async function studiesIn(project: string, location: string, signal: AbortSignal): Promise<readonly StudyJson[]> {
  try {
    return (await getJson<ListStudiesResponseJson>(paths.studies(project, location), signal)).studies ?? [];
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return []; // A region without training.
    throw error;
  }
}
