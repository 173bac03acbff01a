import type { JobJson } from "proto/ml/v1/ml_pb";
import { Button } from "../components/Button.tsx";
import { Command } from "../components/Command.tsx";
import { JobLayout } from "../components/JobLayout.tsx";
import { Loaded } from "../components/Notices.tsx";
import { setQuery, usePlace, type PageProps } from "../router.ts";
import { useSession } from "../state/session.ts";
import { copiesOf } from "../text/copy_as.ts";
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
          {(data) => <Config project={project} job={data} />}
        </Loaded>
      )}
    </JobLayout>
  );
}

function Config({ project, job }: { readonly project: string; readonly job: JobJson }) {
  const session = useSession();
  const chosen = usePlace().query.get("as") ?? "gcloud";
  const copies = copiesOf(
    { ...job, jobId: nextId(job.jobId ?? "") },
    { project, origin: location.origin, authentication: session.authentication ?? false },
  );
  const copy = copies.find(({ name }) => name === chosen) ?? copies[0];
  const hasSecrets = job.trainingInput?.env?.some((one) => one.secret) ?? false;
  return (
    <div class="config">
      <section class="stack" aria-labelledby="config-yaml">
        <div class="spread">
          <h2 id="config-yaml">As submitted</h2>
          <span class="soft">config.yaml of gcloud, with jobId</span>
        </div>
        <Command text={jobToYaml(job)} shown={(text) => visible(cut(text, SHOWN_MAX))} />
      </section>
      <section class="stack" aria-labelledby="config-copy">
        <div class="spread">
          <h2 id="config-copy">Copy as</h2>
          <span class="copies" role="group" aria-label="Copy as">
            {copies.map(({ name }) => (
              <Button key={name} pressed={name === copy?.name} onClick={() => setQuery({ as: name === "gcloud" ? null : name })}>
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
        <p class="soft">Submitted again under a new job id. Everything else stays the same, including the job folder.</p>
        {hasSecrets && <p class="soft">The values of its secrets are not kept: they have to be given again.</p>}
      </section>
    </div>
  );
}
