import type { SubmittedAsJson } from "proto/control/v1/record_pb";
import type { JobJson } from "proto/ml/v1/ml_pb";
import { Button } from "../components/Button.tsx";
import { Command } from "../components/Command.tsx";
import { JobLayout } from "../components/JobLayout.tsx";
import { Loaded } from "../components/Notices.tsx";
import { Text } from "../components/Text.tsx";
import { paths } from "../api/paths.ts";
import { useJson } from "../api/use.ts";
import { setQuery, usePlace, type PageProps } from "../router.ts";
import { useSession } from "../state/session.ts";
import { copiesOf } from "../text/copy_as.ts";
import { vertexCopies, vertexYaml } from "../text/copy_as_vertex.ts";
import { submittedWords, vertexKindOf } from "../text/submitted_as.ts";
import type { Fields } from "../text/vertex_fields.ts";
import { nextId } from "../text/clone.ts";
import { jobToYaml } from "../text/job_yaml.ts";
import { cut, visible } from "../text/plain.ts";
import "./ConfigPage.css";

const SHOWN_MAX = 200_000; // characters; what is copied is whole

/** What was submitted, and how to submit it again. */
export function ConfigPage({ project = "", job = "" }: PageProps) {
  return (
    <JobLayout project={project} job={job} tab="Config">
      {(facts) => (
        <Loaded of={facts.job} lines={12}>
          {(data) => <Config project={project} job={data} submitted={facts.status.data?.submittedAs} />}
        </Loaded>
      )}
    </JobLayout>
  );
}

interface Props {
  readonly project: string;
  readonly job: JobJson;
  /** If it was submitted by another API than ml v1. */
  readonly submitted: SubmittedAsJson | undefined;
}

function Config({ project, job, submitted }: Props) {
  const session = useSession();
  const vertex = useVertexJob(project, job, submitted);
  const chosen = usePlace().query.get("as");
  const target = { project, origin: location.origin, authentication: session.authentication ?? false };
  const copies = [
    ...(vertex.data === undefined ? [] : vertexCopies(vertex.data, submitted?.location ?? "", target)),
    ...copiesOf({ ...job, jobId: nextId(job.jobId ?? "") }, target),
  ];
  const copy = copies.find(({ name }) => name === chosen) ?? copies[0];
  const hasSecrets = job.trainingInput?.env?.some((one) => one.secret) ?? false;
  return (
    <div class="config">
      <section class="stack" aria-labelledby="config-yaml">
        <div class="spread">
          <h2 id="config-yaml">As submitted</h2>
          <span class="soft">
            {vertex.data === undefined ? "config.yaml of gcloud, with jobId" : <Text value={submittedWords(submitted)} longest={120} />}
          </span>
        </div>
        <Command text={vertex.data === undefined ? jobToYaml(job) : vertexYaml(vertex.data)} shown={(text) => visible(cut(text, SHOWN_MAX))} />
      </section>
      <section class="stack" aria-labelledby="config-copy">
        <div class="spread">
          <h2 id="config-copy">Copy as</h2>
          <span class="copies" role="group" aria-label="Copy as">
            {copies.map(({ name }) => (
              <Button key={name} pressed={name === copy?.name} onClick={() => setQuery({ as: name === copies[0]?.name ? null : name })}>
                {name}
              </Button>
            ))}
          </span>
        </div>
        {copy && copy.before !== "" && (
          <p class="soft">
            In a shell where <code>{copy.before}</code> was run:
          </p>
        )}
        {copy && <Command text={copy.text} shown={(text) => visible(cut(text, SHOWN_MAX))} />}
        {vertex.error && (
          <p class="soft">As Vertex AI it cannot be shown: <Text value={vertex.error.message} longest={300} /></p>
        )}
        <p class="soft">Submitted again under a new job id. Everything else stays the same, including the job folder.</p>
        {hasSecrets && <p class="soft">The values of its secrets are not kept: they have to be given again.</p>}
      </section>
    </div>
  );
}

/** The job as Vertex AI shows it; nothing for jobs of ml v1. */
function useVertexJob(project: string, job: JobJson, submitted: SubmittedAsJson | undefined) {
  const kind = vertexKindOf(submitted, job);
  const { location: region = "", number = "" } = submitted ?? {};
  return useJson<Fields>(kind === undefined ? null : paths.vertexJob(project, region, kind, String(number)));
}
