import { sendJson } from "../../api/http.ts";
import { paths } from "../../api/paths.ts";
import { JobLayout } from "../../components/JobLayout.tsx";
import { Link } from "../../components/Link.tsx";
import { Empty, Loading } from "../../components/Notices.tsx";
import { TerminalView } from "../../components/shell/TerminalView.tsx";
import { Text } from "../../components/Text.tsx";
import { usePlace, type PageProps } from "../../router.ts";
import { hasEnded, type JobFacts } from "../../state/job.ts";
import { useSession } from "../../state/session.ts";
import { address } from "../../text/address.ts";
import { type ShellTarget, shellTargets } from "../../text/shell_session.ts";
import "./ShellPage.css";

/** A terminal in one of a job's replicas. */
export function ShellPage({ project = "", job = "", replica = "" }: PageProps) {
  return (
    <JobLayout project={project} job={job} tab="Shell">
      {(facts) => <Shells project={project} job={job} replica={replica} facts={facts} />}
    </JobLayout>
  );
}

interface Props {
  readonly project: string;
  readonly job: string;
  /** "" is the only one there is, else none yet. */
  readonly replica: string;
  readonly facts: JobFacts;
}

function Shells({ project, job, replica, facts }: Props) {
  const { authentication = false } = useSession();
  const trial = usePlace().query.get("trial") ?? "";
  const { data } = facts.job;
  if (data === undefined || (facts.status.data === undefined && facts.status.loading)) return <Loading />;
  const targets = shellTargets(data, facts.status.data);
  const named = targets.find((target) => target.task === replica && target.trial === trial);
  const wanted = named ?? (replica === "" && targets.length === 1 ? targets[0] : undefined);
  const task = wanted?.task ?? replica;
  const where = () => whereOf(paths.shellTicket(project, job, task), wanted, authentication);
  if (!data.trainingInput?.enableWebAccess) return <NotAllowed project={project} job={job} />;
  const ended = hasEnded(data);
  if (wanted === undefined && (replica === "" ? targets.length === 0 : ended)) return <NoneRuns ended={ended} />;
  if (wanted === undefined && replica !== "" && !authentication) {
    return (
      <Empty title="No replica of this name runs.">
        <Link to={address`/p/${project}/jobs/${job}/shell`}>Those that do</Link>
      </Empty>
    );
  }
  return (
    <div class="shell-page fill">
      {targets.length > 1 && <Choice base={address`/p/${project}/jobs/${job}/shell`} targets={targets} current={wanted} />}
      {task === ""
        ? <Empty title="In which replica?">Choose one of the {targets.length} that run.</Empty>
        : <TerminalView key={`${trial}/${task}`} task={task} path={where} />}
    </div>
  );
}

/** Where its WebSocket is. Where the server asks who one is, a ticket that serves once leads to it. */
async function whereOf(tickets: string, target: ShellTarget | undefined, authentication: boolean): Promise<string> {
  if (!authentication && target?.path !== undefined) return target.path;
  const own = target?.path?.endsWith(":shell") ? `${target.path}Ticket` : tickets;
  const { uri } = await sendJson<{ uri: string }>("POST", own);
  return new URL(uri, location.origin).pathname;
}

function Choice({ base, targets, current }: {
  readonly base: string;
  readonly targets: readonly ShellTarget[];
  readonly current: ShellTarget | undefined;
}) {
  return (
    <nav class="shell-choice" aria-label="Replicas">
      {targets.map((target) => {
        const { task, trial } = target;
        const to = `${base}/${encodeURIComponent(task)}` + (trial === "" ? "" : `?trial=${encodeURIComponent(trial)}`);
        return (
          <Link key={to} to={to} current={target === current} class="button plain">
            <Text value={trial === "" ? task : `trial ${trial}: ${task}`} longest={80} />
          </Link>
        );
      })}
    </nav>
  );
}

function NotAllowed({ project, job }: { readonly project: string; readonly job: string }) {
  const clone = `${address`/p/${project}/new`}?from=${encodeURIComponent(job)}&shells=1`;
  return (
    <Empty title="This job allows no shells.">
      <p>
        It is enabled when a job is submitted: <code>trainingInput.enableWebAccess</code> in its input.
      </p>
      <Link to={clone} class="button plain">Clone it with shells</Link>
    </Empty>
  );
}

function NoneRuns({ ended }: { readonly ended: boolean }) {
  if (ended) return <Empty title="The job has ended: its replicas are gone." />;
  return <Empty title="No replica runs yet.">The shell opens here as soon as one does.</Empty>;
}
