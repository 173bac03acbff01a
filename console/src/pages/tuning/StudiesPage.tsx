import type { StudyJson } from "proto/ml/v1/study_pb";
import { AsOf } from "../../components/AsOf.tsx";
import { Command } from "../../components/Command.tsx";
import { Link } from "../../components/Link.tsx";
import { Empty, Loaded } from "../../components/Notices.tsx";
import { StateChip } from "../../components/StateChip.tsx";
import { Text } from "../../components/Text.tsx";
import { Time } from "../../components/Time.tsx";
import { VirtualRows } from "../../components/VirtualRows.tsx";
import { go, type PageProps } from "../../router.ts";
import { useEvery } from "../../state/every.ts";
import { useNarrow } from "../../state/narrow.ts";
import { useRows } from "../../state/rows.ts";
import { useStudies } from "../../state/tuning.ts";
import { address } from "../../text/address.ts";
import "./StudiesPage.css";

/** A list is a request for each region. */
const REFRESH_MS = 60_000;

const EXAMPLE = `from googleapiclient import discovery

studies = discovery.build("ml", "v1").projects().locations().studies()
studies.create(parent="projects/PROJECT/locations/us-central1", studyId="oven", body={"studyConfig": {
    "metrics": [{"metric": "taste", "goal": "MAXIMIZE"}],
    "parameters": [{"parameter": "celsius", "type": "DOUBLE",
                    "doubleValueSpec": {"minValue": 120, "maxValue": 260}}]}}).execute()`;

/** All studies of a project, newest first. Keys: j k Enter. */
export function StudiesPage({ project = "" }: PageProps) {
  const studies = useStudies(project);
  useEvery(REFRESH_MS, studies.reload);
  return (
    <div class="stack">
      <div class="spread"><h1>Studies</h1><AsOf of={[studies]} /></div>
      <Loaded of={studies}>
        {(all) => (all.length === 0
          ? <Empty title={`${project} has no studies yet.`}>
              <p>A study tunes anything that you can measure: you evaluate, the server proposes.</p>
              <Command text={EXAMPLE.replace("PROJECT", project)} />
            </Empty>
          : <StudyRows project={project} studies={all} />)}
      </Loaded>
    </div>
  );
}

function StudyRows({ project, studies }: { readonly project: string; readonly studies: readonly StudyJson[] }) {
  const narrow = useNarrow();
  const { at, place } = useRows({
    name: `studies ${project}`,
    items: studies,
    idOf: (study) => study.name ?? "",
    open: (study) => go(placeOf(project, study)),
  });
  return (
    <div class="studies" role="table" aria-label="Studies" aria-rowcount={studies.length}>
      <div class="study-row head" role="row">
        {["Study", "State", "Metric", "Parameters", "Created"].map((name) => <span key={name} role="columnheader">{name}</span>)}
      </div>
      <VirtualRows count={studies.length} rowHeight={narrow ? 64 : 37} {...place}
        row={(row) => {
          const study = studies[row];
          return study ? <StudyRow project={project} study={study} current={row === at} /> : null;
        }} />
    </div>
  );
}

interface RowProps {
  readonly project: string;
  readonly study: StudyJson;
  readonly current: boolean;
}

function StudyRow({ project, study, current }: RowProps) {
  const { metrics = [], parameters = [] } = study.studyConfig ?? {};
  const goals = metrics.map(({ metric, goal }) => `${metric ?? ""} ${goal === "MINIMIZE" ? "↓" : "↑"}`).join(", ");
  return (
    <div class={`study-row${current ? " current" : ""}`} role="row">
      <span role="cell">
        <Link to={placeOf(project, study)} class="study-name"><Text value={parts(study).id} longest={128} /></Link>
      </span>
      <span role="cell"><StateChip state={study.state} /></span>
      <span role="cell"><Text value={goals} longest={80} /></span>
      <span role="cell" class="soft"><Text value={parameters.map((one) => one.parameter ?? "").join(", ")} longest={200} /></span>
      <span role="cell" class="soft"><Time at={study.createTime} /></span>
    </div>
  );
}

/** projects/P/locations/L/studies/S */
function parts(study: StudyJson) {
  const [, , , location = "", , id = ""] = (study.name ?? "").split("/");
  return { location, id };
}

function placeOf(project: string, study: StudyJson): string {
  const { location, id } = parts(study);
  return address`/p/${project}/studies/${id}` + (location === "us-central1" ? "" : `?location=${encodeURIComponent(location)}`);
}
