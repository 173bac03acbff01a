// Which page an address means, and who may see it.
import type { SessionJson } from "proto/control/v1/session_pb";
import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { LOGIN_NEEDED } from "./api/http.ts";
import { paths } from "./api/paths.ts";
import { sessionSecret } from "./api/secret.ts";
import { useJson } from "./api/use.ts";
import { Frame } from "./components/Frame.tsx";
import { Empty, Failure, Loading } from "./components/Notices.tsx";
import { JobsPage } from "./pages/JobsPage.tsx";
import { LoginPage } from "./pages/LoginPage.tsx";
import { go, match, usePlace, type PageProps } from "./router.ts";
import { address } from "./text/address.ts";
import { titleOf } from "./text/title.ts";
import { useHomeProject } from "./state/projects.ts";
import { lastProject, SessionContext } from "./state/session.ts";

type Page = ComponentType<PageProps>;

interface Route {
  readonly pattern: string;
  /** A page is either here, or loaded when it is first looked at. */
  readonly page?: Page;
  readonly load?: () => Promise<Page>;
}

function later(name: keyof typeof import("./pages/later.ts")): () => Promise<Page> {
  return () => import("./pages/later.ts").then((pages) => pages[name] as Page);
}

/** In the order in which they are tried. */
const ROUTES: readonly Route[] = [
  { pattern: "/p/:project/jobs", page: JobsPage },
  { pattern: "/p/:project/jobs/:job", load: later("OverviewPage") },
  { pattern: "/p/:project/jobs/:job/config", load: later("ConfigPage") },
  { pattern: "/p/:project/new", load: later("NewJobPage") },
  { pattern: "/start", load: later("StartPage") },
  { pattern: "/machine", load: later("MachinePage") },
  { pattern: "/p/:project/jobs/:job/logs", load: later("LogsPage") },
  { pattern: "/p/:project/jobs/:job/charts", load: later("ChartsPage") },
  { pattern: "/p/:project/jobs/:job/metrics", load: later("MetricsPage") },
  { pattern: "/p/:project/jobs/:job/trials", load: later("TrialsPage") },
  { pattern: "/p/:project/jobs/:job/trials/:trial", load: later("TrialPage") },
  { pattern: "/p/:project/studies", load: later("StudiesPage") },
  { pattern: "/p/:project/studies/:study", load: later("StudyPage") },
  { pattern: "/p/:project/studies/:study/trials/:trial", load: later("StudyPage") },
  { pattern: "/p/:project/compare", load: later("ComparePage") },
  { pattern: "/p/:project/jobs/:job/shell", load: later("ShellPage") },
  { pattern: "/p/:project/jobs/:job/shell/:replica", load: later("ShellPage") },
  { pattern: "/buckets", load: later("BucketsPage") },
  { pattern: "/buckets/:bucket", load: later("BucketPage") },
  { pattern: "/buckets/:bucket/:path*", load: later("BucketPage") },
];

export function App() {
  const place = usePlace();
  // Before the effects of pages, which may know a better name.
  useLayoutEffect(() => {
    document.title = titleOf(place.path);
  }, [place.path]);
  const session = useJson<SessionJson>(paths.session());
  const [out, setOut] = useState(false);
  useEffect(() => {
    const needed = () => setOut(true);
    addEventListener(LOGIN_NEEDED, needed);
    return () => removeEventListener(LOGIN_NEEDED, needed);
  }, []);
  if (session.error) return <Failure error={session.error} retry={session.reload} />;
  if (session.data === undefined) return null;
  if (session.data.authentication && (out || !session.data.principal || sessionSecret() === null)) return <LoginPage />;
  return (
    <SessionContext.Provider value={session.data}>
      {place.path === "/" ? <Home session={session.data} /> : <Routed path={place.path} />}
    </SessionContext.Provider>
  );
}

/** The project that was looked at last, else that of the newest job, else the first steps. */
function Home({ session }: { readonly session: SessionJson }) {
  useEffect(() => {
    const project = lastProject() ?? session.defaultProject;
    go(project ? address`/p/${project}/jobs` : "/start", { replace: true });
  }, []);
  return null;
}

function Routed({ path }: { readonly path: string }) {
  const home = useHomeProject();
  const found = ROUTES.map((route) => ({ route, props: match(route.pattern, path) })).find(({ props }) => props !== null);
  const project = found?.props?.["project"];
  return (
    <Frame project={project ?? home ?? null}>
      {found === undefined
        ? <Empty title="There is no such page.">The address may be of another version of the console.</Empty>
        : <Shown route={found.route} props={found.props ?? {}} />}
    </Frame>
  );
}

const loaded = new Map<Route, Page>();

function Shown({ route, props }: { readonly route: Route; readonly props: PageProps }) {
  const [, again] = useState(0);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (route.load === undefined || loaded.has(route)) return;
    route.load().then(
      (page) => {
        loaded.set(route, page);
        again((count) => count + 1);
      },
      () => setFailed(true),
    );
  }, [route]);
  const Ready = route.page ?? loaded.get(route);
  if (Ready !== undefined) return <Ready {...props} />;
  if (failed) return <Empty title="This page cannot be loaded.">The server may be a newer one: reload the page.</Empty>;
  return <Loading />;
}
