// The addresses of the server's resources. Their messages are in proto/, the extensions' parameters in
// docs/extensions.md.
import { address } from "../text/address.ts";

export const paths = {
  projects: () => "/v1/projects",
  session: () => "/trainyard/v1/session",
  jobRows: (project: string) => address`/trainyard/v1/projects/${project}/jobs`,
  watch: (project: string) => `${paths.jobRows(project)}:watch`,
  summarize: (project: string) => `${paths.jobRows(project)}:summarize`,
  validate: (project: string) => `${paths.jobRows(project)}:validate`,
  jobs: (project: string) => address`/v1/projects/${project}/jobs`,
  /** The job as the ml API has it. */
  job: (project: string, job: string) => address`/v1/projects/${project}/jobs/${job}`,
  /** The same job as Vertex AI has it, if it was submitted there. */
  vertexJob: (project: string, location: string, kind: string, number: string) =>
    address`/aiplatform/v1/projects/${project}/locations/${location}/${kind}/${number}`,
  cancel: (project: string, job: string) => `${paths.job(project, job)}:cancel`,
  /** JobStatus, and what is below it. */
  status: (project: string, job: string) => address`/trainyard/v1/projects/${project}/jobs/${job}`,
  events: (project: string, job: string) => `${paths.status(project, job)}/events`,
  metrics: (project: string, job: string) => `${paths.status(project, job)}/metrics`,
  preparation: (project: string, job: string) => `${paths.status(project, job)}/preparation`,
  scalars: (project: string, job: string) => `${paths.status(project, job)}/scalars`,
  summaries: (project: string, job: string) => `${paths.status(project, job)}/summaries`,
  insight: (project: string, job: string) => `${paths.status(project, job)}/tuning:explain`,
  log: (project: string, job: string, verb: "read" | "search" | "summarize" | "download") =>
    `${paths.status(project, job)}/log:${verb}`,
  shellTicket: (project: string, job: string, replica: string) =>
    `${paths.status(project, job)}/replicas/${encodeURIComponent(replica)}:shellTicket`,
  scalarsQuery: (project: string) => address`/trainyard/v1/projects/${project}/scalars:query`,
  studies: (project: string, location: string) => address`/v1/projects/${project}/locations/${location}/studies`,
  studyInsight: (project: string, location: string, study: string) =>
    address`/trainyard/v1/projects/${project}/locations/${location}/studies/${study}/tuning:explain`,
  locations: (project: string) => address`/v1/projects/${project}/locations`,
  buckets: () => "/storage/v1/b",
  objects: (bucket: string) => address`/storage/v1/b/${bucket}/o`,
  object: (bucket: string, name: string) => address`/storage/v1/b/${bucket}/o/${name}`,
  upload: (bucket: string) => address`/upload/storage/v1/b/${bucket}/o`,
  /** All objects below a prefix; that of the bucket is "", and has to be said. */
  folder: (bucket: string, prefix: string, verb: "" | ":summarize" | ":download" = "") =>
    `${address`/trainyard/v1/buckets/${bucket}/folder`}${verb}?prefix=${encodeURIComponent(prefix)}`,
  machine: () => "/trainyard/v1/machine",
  machineUsage: () => "/trainyard/v1/machine/usage",
  usage: () => "/trainyard/v1/usage",
  runtimes: () => "/trainyard/v1/runtimes",
  images: () => "/trainyard/v1/images",
};
