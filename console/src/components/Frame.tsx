import type { ProjectListJson } from "../api/projects.ts";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { sendJson } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { forgetSecret } from "../api/secret.ts";
import { asApiError, useJson } from "../api/use.ts";
import { go, usePlace } from "../router.ts";
import { address } from "../text/address.ts";
import { plain } from "../text/plain.ts";
import { useKeys } from "../state/keys.ts";
import { forgetProject, rememberProject, useSession } from "../state/session.ts";
import { setTheme, useTheme } from "../state/theme.ts";
import { Button } from "./Button.tsx";
import { Brand, Icon } from "./Icon.tsx";
import { KeysDialog } from "./KeysDialog.tsx";
import { Link } from "./Link.tsx";
import { Text } from "./Text.tsx";
import { UploadList } from "./UploadList.tsx";
import "./Frame.css";

interface Props {
  /** Whose jobs the links lead to; null: no project is known. */
  readonly project: string | null;
  readonly children: ComponentChildren;
}

/** What is around every page: where one can go, which project, who one is. */
export function Frame({ project, children }: Props) {
  const { path } = usePlace();
  const content = useRef<HTMLElement>(null);
  const shown = useRef(path);
  useEffect(() => {
    // What was pressed went away with its page: who uses keys goes on at the new page's beginning.
    if (shown.current !== path && document.activeElement === document.body) content.current?.focus({ preventScroll: true });
    shown.current = path;
  }, [path]);
  const links = project === null ? [] : [
    { name: "Jobs", to: address`/p/${project}/jobs` },
    { name: "Studies", to: address`/p/${project}/studies` },
  ];
  links.push({ name: "Buckets", to: "/buckets" }, { name: "Machine", to: "/machine" });
  return (
    <>
      <a class="skip" href="#content">To the content</a>
      <header class="frame">
        <Link to="/" class="brand"><Brand /><span>Trainyard</span></Link>
        <nav aria-label="Console">
          {links.map(({ name, to }) => (
            <Link key={name} to={to} current={path === to || path.startsWith(`${to}/`)}>{name}</Link>
          ))}
        </nav>
        <span class="grow" />
        {project !== null && <ProjectSwitch project={project} />}
        {project !== null && <Link to={address`/p/${project}/new`} class="button main"><Icon name="plus" /> New job</Link>}
        <KeysButton />
        <ThemeButton />
        <Reader />
      </header>
      <main id="content" tabIndex={-1} ref={content}>{children}</main>
      <UploadList />
    </>
  );
}

/** Pages whose project is not in their path (useHomeProject). */
const WITH_QUERY: readonly string[] = ["/buckets", "/start"];

function ProjectSwitch({ project }: { readonly project: string }) {
  const list = useJson<ProjectListJson>(paths.projects());
  const known = (list.data?.projects ?? []).map((one) => one.projectId);
  const names = new Set(known.concat(project));
  const isKnown = known.includes(project);
  useEffect(() => {
    if (isKnown) rememberProject(project); // any name has an answer, also one that was mistyped
  }, [project, isKnown]);
  const { path } = usePlace();
  const change = (event: Event) => {
    const chosen = (event.target as HTMLSelectElement).value;
    // A page of no project is shown again for the other one; a page of a project leads to the other's jobs.
    if (!WITH_QUERY.includes(path)) return go(address`/p/${chosen}/jobs`);
    rememberProject(chosen);
    go(`${path}?project=${encodeURIComponent(chosen)}`);
  };
  return (
    <select aria-label="Project" value={project} onChange={change}>
      {[...names].sort().map((name) => <option key={name} value={name}>{plain(name, 80)}</option>)}
    </select>
  );
}

function KeysButton() {
  const [open, setOpen] = useState(false);
  useKeys({ "?": () => setOpen(true) }, { "?": "This list" });
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)} label="Keys" title="Keys of this page (?)">?</Button>
      {open && <KeysDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function ThemeButton() {
  const theme = useTheme();
  const other = theme === "dark" ? "light" : "dark";
  return <Button kind="quiet" onClick={() => setTheme(other)} label={`Show in ${other} colours`}><Icon name={theme === "dark" ? "sun" : "moon"} /></Button>;
}

function Reader() {
  const session = useSession();
  if (!session.authentication || !session.principal) return null;
  const [failed, setFailed] = useState("");
  /** Only what the server has ended is forgotten: without its secret nobody could end it any more. */
  const leave = () => void sendJson("DELETE", paths.session()).then(
    () => {
      forgetSecret();
      forgetProject();
      location.reload();
    },
    (reason: unknown) => setFailed(`Not logged out: ${asApiError(reason).message}`),
  );
  return (
    <>
      <Text value={session.principal.replace(/^[a-zA-Z]+:/, "")} longest={40} class="soft reader" />
      <Button kind="quiet" onClick={leave}>Log out</Button>
      {failed !== "" && <span role="alert"><Text value={failed} longest={200} /></span>}
    </>
  );
}
