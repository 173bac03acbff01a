// A job as commands and programs that submit it again. Pure.
import type { JobJson } from "proto/ml/v1/ml_pb";
import { inputOf } from "./job_yaml.ts";
import { toPython } from "./python.ts";
import { quotedJson } from "./quoted.ts";
import { commandLines, hereDocument, word } from "./shell.ts";
import { submitFlags } from "./submit_flags.ts";
import { type Json, toYaml } from "./yaml.ts";

export interface Copied {
  readonly name: string;
  /** What has to be there for it; empty: nothing. */
  readonly before: string;
  readonly text: string;
}

/** Where a copied command leads. */
export interface CopyTarget {
  readonly project: string;
  /** "http://127.0.0.1:8470", without a slash at its end. */
  readonly origin: string;
  /** The server asks who one is. */
  readonly authentication: boolean;
}

const ENV = 'eval "$(trainyard env)"';

export function copiesOf(job: JobJson, target: CopyTarget): Copied[] {
  return [
    { name: "gcloud", before: ENV, text: asCommand(["gcloud", "ai-platform"], job, target) },
    { name: "trainyard", before: "", text: asCommand(["trainyard"], job, target) },
    { name: "Python", before: ENV, text: asPython(job, target) },
    { name: "curl", before: "", text: asCurl(job, target) },
  ];
}

function asCommand(program: readonly string[], job: JobJson, { project, origin }: CopyTarget): string {
  const { flags, args, rest, labelsAreFlags } = submitFlags(job.trainingInput ?? {}, job.labels);
  const config = inputOf({
    ...(labelsAreFlags || !job.labels ? {} : { labels: job.labels }),
    ...(Object.keys(rest).length > 0 ? { trainingInput: rest } : {}),
  });
  const file = `${(job.jobId ?? "job").replace(/[^A-Za-z0-9_.-]/g, "_")}.yaml`;
  const hasConfig = Object.keys(config).length > 0;
  const command = commandLines([
    [...program, "jobs submit training", word(job.jobId ?? "")].join(" "),
    word(`--project=${project}`),
    ...(program[0] === "trainyard" ? [word(`--server=${origin}`)] : []),
    ...flags,
    ...(hasConfig ? [`--config=${word(file)}`] : []),
    ...(args.length > 0 ? [`-- ${args.map(word).join(" ")}`] : []),
  ]);
  if (!hasConfig) return command;
  const { mark, body } = hereDocument(toYaml(config as Json));
  return `cat > ${word(file)} ${mark}\n${body}\n${command}`;
}

function asPython(job: JobJson, { project }: CopyTarget): string {
  return `from googleapiclient import discovery

job = ${toPython(inputOf(job) as Json)}
ml = discovery.build("ml", "v1")
print(ml.projects().jobs().create(parent=${toPython(`projects/${project}`)}, body=job).execute())`;
}

function asCurl(job: JobJson, { project, origin, authentication }: CopyTarget): string {
  const { mark, body } = hereDocument(quotedJson(inputOf(job)));
  return (
    commandLines([
      "curl --fail-with-body --data-binary @-",
      "-H 'Content-Type: application/json'",
      ...(authentication ? ['-H "Authorization: Bearer $(trainyard auth print-access-token)"'] : []),
      `${word(`${origin}/v1/projects/${encodeURIComponent(project)}/jobs`)} ${mark}`,
    ]) + `\n${body}`
  );
}
