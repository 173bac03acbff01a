// How curves are told apart where they are many. Pure.

/** Dashes of a line in pixels. */
export const DASHES: readonly (readonly number[])[] = [[], [6, 4], [2, 3], [9, 3, 2, 3], [14, 4], [9, 3, 2, 3, 2, 3]];

const COLORS = 12;
/**
 * The colours in the order in which lines get them. Two that are as far apart as there are dashes have the same dash: these
 * pairs differ most for readers who do not see red or green (by 41 in Lab at least, in both themes).
 */
const ORDER: readonly number[] = [0, 4, 3, 6, 10, 8, 1, 5, 2, 7, 9, 11];

export interface Look {
  /** Of --line-0 to --line-11. */
  readonly color: number;
  /** Of DASHES. */
  readonly dash: number;
}

/** A look for each name: its own colour, the next free one where that is taken, other dashes where all are. */
export function lookOf(names: readonly string[], color: (name: string) => number): ReadonlyMap<string, Look> {
  const taken = new Map<number, number>();
  const all = new Map<string, Look>();
  for (const name of names) {
    let own = color(name);
    const least = Math.min(...Array.from({ length: COLORS }, (_, at) => taken.get(at) ?? 0));
    while ((taken.get(own) ?? 0) > least) own = (own + 1) % COLORS;
    taken.set(own, least + 1);
    all.set(name, { color: own, dash: least % DASHES.length });
  }
  return all;
}

const LOOKS = COLORS * DASHES.length;

/** All looks that there are, by number: neighbours differ in colour and in dash. Then they begin again. */
function lookAt(number: number): Look {
  const color = ORDER[number % COLORS] ?? 0;
  return { color, dash: (number + Math.floor(number / COLORS)) % DASHES.length };
}

/** The look of a trial: neighbours differ, and it is the same on all pages. */
export function trialLook(id: string): Look {
  return lookAt(Math.max(0, (Number.parseInt(id, 10) || 1) - 1));
}

export interface JobRun {
  readonly job: string;
  /** Names the curve on all charts. */
  readonly label: string;
  /** Of a tuning job; empty: it is no trial. */
  readonly trial: string;
}

/** The runs of one job, by their labels: trials have all colours, each other run has its own. */
export function ownRuns(labels: readonly string[]): JobRun[] {
  return labels.map((label) => {
    const trial = /^trial (\d+)/.exec(label)?.[1] ?? "";
    return { job: trial === "" ? label : "", label, trial };
  });
}

export interface JobLooks {
  /** By the run's label. No two are alike as long as there are looks. */
  readonly runs: ReadonlyMap<string, Look>;
  /** By job: what all its runs have in common; undefined: they have all colours. */
  readonly colors: ReadonlyMap<string, number | undefined>;
}

export const NO_LOOKS: JobLooks = { runs: new Map(), colors: new Map() };

/** A job with more runs has no colour of its own: its runs would differ in dashes only. */
const RUNS_OF_ONE_COLOR = 3;

/**
 * Looks for the runs of several jobs: a job's few runs have its colour. What has a look keeps it, and what comes later
 * gets one that is free.
 */
export function jobLooks(runs: readonly JobRun[], before: JobLooks = NO_LOOKS): JobLooks {
  const byJob = new Map<string, Map<string, JobRun>>();
  for (const run of runs) byJob.set(run.job, (byJob.get(run.job) ?? new Map<string, JobRun>()).set(run.label, run));
  const found = new Map(runs.flatMap(({ label }) => {
    const known = before.runs.get(label);
    return known === undefined ? [] : [[label, known] as const];
  }));
  const colors = new Map([...byJob.keys()].flatMap((job) => (before.colors.has(job) ? [[job, before.colors.get(job)]] : [])));
  const taken = new Map<string, number>();
  const times = (look: Look) => taken.get(keyOf(look)) ?? 0;
  const take = (label: string, wanted: readonly Look[]) => {
    const all = [...wanted, ...Array.from({ length: LOOKS }, (_, at) => lookAt(at))];
    const least = Math.min(...all.map(times));
    const look = all.find((one) => times(one) === least) ?? lookAt(0);
    taken.set(keyOf(look), times(look) + 1);
    found.set(label, look);
  };
  for (const look of found.values()) taken.set(keyOf(look), times(look) + 1);
  for (const [at, [job, ofJob]] of [...byJob].entries()) {
    if (!colors.has(job)) colors.set(job, ofJob.size > RUNS_OF_ONE_COLOR ? undefined : freeColor([...colors.values()]));
    const color = colors.get(job);
    for (const { label, trial } of ofJob.values()) {
      if (found.has(label)) continue;
      const own = trial === "" ? undefined : trialLook(trial);
      if (color !== undefined) take(label, dashed(color, at));
      else take(label, own === undefined ? [] : dashed(own.color, own.dash));
    }
  }
  return { runs: found, colors };
}

/** A colour with all dashes, from one on. */
function dashed(color: number, first: number): Look[] {
  return DASHES.map((_, at) => ({ color, dash: (first + at) % DASHES.length }));
}

const keyOf = ({ color, dash }: Look) => `${color} ${dash}`;

/** The first colour of those that are taken least. */
function freeColor(taken: readonly (number | undefined)[]): number {
  const times = ORDER.map((color) => taken.filter((one) => one === color).length);
  return ORDER[times.indexOf(Math.min(...times))] ?? 0;
}
