import type { RuntimeListJson } from "proto/control/v1/runtimes_pb";
import { paths } from "../api/paths.ts";
import { useJson } from "../api/use.ts";
import { Command } from "../components/Command.tsx";
import { ExampleCard } from "../components/ExampleCard.tsx";
import { Link } from "../components/Link.tsx";
import { NoProject } from "../components/NoProject.tsx";
import { Loading } from "../components/Notices.tsx";
import { Text } from "../components/Text.tsx";
import { useHomeProject } from "../state/projects.ts";
import { useSession } from "../state/session.ts";
import { address } from "../text/address.ts";
import { EXAMPLES } from "../text/examples.ts";
import { firstSteps } from "../text/first_steps.ts";
import "./StartPage.css";

const FIRST_PROJECT = "trainyard"; // that of `trainyard env`, where nobody has chosen one

/** For who has no job yet: examples to start with a click, and commands to copy. */
export function StartPage() {
  const session = useSession();
  const home = useHomeProject();
  const project = home ?? FIRST_PROJECT;
  const runtimes = useJson<RuntimeListJson>(paths.runtimes()).data?.runtimes ?? [];
  const runtimeOf = (name: string) => runtimes.find(({ version, isDefault }) => (name === "" ? isDefault : version === name));
  const steps = firstSteps({ origin: location.origin, project, authentication: session.authentication ?? false });
  if (home === undefined) return <Loading />;
  if (home === null && session.authentication) return <NoProject />;
  return (
    <div class="start stack">
      <h1>First steps</h1>
      <section class="stack" aria-labelledby="start-examples">
        <div class="spread">
          <h2 id="start-examples">Start an example</h2>
          <span class="soft">
            in the project{" "}
            <Link to={address`/p/${project}/jobs`}>
              <Text value={project} longest={80} />
            </Link>
          </span>
        </div>
        <div class="examples">
          {EXAMPLES.map((example) => (
            <ExampleCard key={example.name} example={example} project={project} runtime={runtimeOf(example.runtime)} />
          ))}
        </div>
      </section>
      <section class="stack" aria-labelledby="start-commands">
        <h2 id="start-commands">Start your own</h2>
        <ol class="steps">
          {steps.map(({ title, text, hint }) => (
            <li key={title}>
              <div class="body">
                <h3>{title}</h3>
                <Command text={text} />
                <p class="soft">{hint}</p>
              </div>
            </li>
          ))}
        </ol>
        <p>
          <Link to={address`/p/${project}/new`}>Or fill in the form of a new job</Link>
        </p>
      </section>
    </div>
  );
}
