import { Link } from "../../components/Link.tsx";
import { Loaded, Loading } from "../../components/Notices.tsx";
import { StateChip } from "../../components/StateChip.tsx";
import { Text } from "../../components/Text.tsx";
import { Time } from "../../components/Time.tsx";
import { TrialView } from "../../components/TrialView.tsx";
import { TuningView } from "../../components/TuningView.tsx";
import { usePlace, type PageProps } from "../../router.ts";
import { useStudy } from "../../state/tuning.ts";
import { address } from "../../text/address.ts";

const LOCATION = "us-central1";

/** A study and its trials, or one of them. The location is in the query: nothing but the name depends on it. */
export function StudyPage({ project = "", study = "", trial }: PageProps) {
  const location = usePlace().query.get("location") || LOCATION;
  const facts = useStudy(project, location, study);
  const { tuning, insight } = facts;
  const place = location === LOCATION ? "" : `?location=${encodeURIComponent(location)}`;
  const all = address`/p/${project}/studies/${study}` + place;
  const to = (other: string) => address`/p/${project}/studies/${study}/trials/${other}` + place;
  return (
    <div class="stack">
      <div class="row">
        <Link to={address`/p/${project}/studies`} class="soft">Studies</Link>
        <h1><Text value={study} longest={128} /></h1>
        {facts.study.data && <StateChip state={facts.study.data.state} />}
        {facts.study.data && (
          <span class="soft">created <Time at={facts.study.data.createTime} /> in <Text value={location} longest={60} /></span>
        )}
      </div>
      <Loaded of={facts.study} lines={8}>
        {() => {
          if (tuning === undefined) return <Loading lines={8} />;
          if (trial !== undefined) return <TrialView tuning={tuning} trial={trial} all={all} to={to} />;
          return <TuningView tuning={tuning} insight={insight} to={to} />;
        }}
      </Loaded>
    </div>
  );
}
