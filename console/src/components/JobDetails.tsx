import type { JobRowsJson } from "proto/control/v1/job_rows_pb";
import type { JobStatusJson } from "proto/control/v1/status_pb";
import type { JobJson } from "proto/ml/v1/ml_pb";
import { withQuery } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { useJson } from "../api/use.ts";
import { useSession } from "../state/session.ts";
import { address } from "../text/address.ts";
import { bytes, num, number } from "../text/format.ts";
import { programName } from "../text/job_words.ts";
import { submittedWords } from "../text/submitted_as.ts";
import { FactList } from "./FactList.tsx";
import { LabelEditor } from "./LabelEditor.tsx";
import { Link } from "./Link.tsx";
import { ObjectLink } from "./ObjectLink.tsx";
import { Text } from "./Text.tsx";
import { Time } from "./Time.tsx";

interface Props {
  readonly project: string;
  readonly job: JobJson;
  readonly status: JobStatusJson | undefined;
  readonly changed: () => void;
}

/** What a job is, whose, and where its results are. */
export function JobDetails({ project, job, status, changed }: Props) {
  const id = job.jobId ?? "";
  const creator = useCreator(project, id);
  const { trainingInput: input, trainingOutput: output } = job;
  const shells = Object.keys(output?.webAccessUris ?? {});
  const model = output?.builtInAlgorithmOutput?.modelPath;
  const submitted = status?.submittedAs;
  return (
    <FactList
      facts={[
        [
          "Submitted as",
          submitted && (
            <>
              <Text value={submittedWords(submitted)} longest={120} />{" "}
              <Text value={String(submitted.number ?? "")} longest={30} class="mono" />
            </>
          ),
        ],
        ["Labels", <LabelEditor key={id} project={project} job={id} labels={job.labels} saved={changed} />],
        ["Created by", creator && <Text value={creator} longest={200} />],
        ["Created", <Time at={job.createTime} />],
        ["Program", programOf(job) && <Text value={programOf(job)} longest={300} class="mono" />],
        ["Runtime", status?.runtimeVersion && <Text value={status.runtimeVersion} longest={60} />],
        ["Job folder", input?.jobDir && <ObjectLink uri={input.jobDir} />],
        ["Model", model && <ObjectLink uri={model} />],
        [
          "Images",
          status?.images?.length &&
            status.images.map((image) => (
              <div key={image.image}>
                <Text value={image.image} longest={200} class="mono" />{" "}
                <span class="soft">{num(image.sizeBytes) > 0 && bytes(num(image.sizeBytes))}</span>
              </div>
            )),
        ],
        ["Region", input?.region && <Text value={input.region} longest={60} />],
        ["ML units", output?.consumedMLUnits === undefined ? undefined : number(Number(output.consumedMLUnits))],
        ["Retries", status?.retries],
        [
          "Web access",
          shells.length > 0 &&
            shells.sort().map((replica) => (
              <div key={replica}>
                <Link to={address`/p/${project}/jobs/${id}/shell/${replica}`}>
                  Shell in <Text value={replica} longest={80} />
                </Link>
              </div>
            )),
        ],
      ]}
    />
  );
}

function programOf({ jobId, trainingInput: input }: JobJson): string {
  return programName(input?.pythonModule, jobId) || input?.masterConfig?.imageUri || "";
}

/** Where people are told apart: the ml API has no creator, the row has. */
function useCreator(project: string, job: string): string {
  const wanted = useSession().authentication === true && /^[A-Za-z0-9_]+$/.test(job);
  const rows = useJson<JobRowsJson>(wanted ? withQuery(paths.jobRows(project), { filter: `jobId=${job}`, pageSize: 1 }) : null);
  return rows.data?.jobs?.[0]?.creator?.replace(/^[a-zA-Z]+:/, "") ?? "";
}
