import { useSession } from "../state/session.ts";
import { word } from "../text/shell.ts";
import { Command } from "./Command.tsx";
import { Empty } from "./Notices.tsx";

/** For a reader who may do nothing in any project. */
export function NoProject() {
  const { principal = "" } = useSession();
  return (
    <Empty title="You have no role in any project yet.">
      <p>An administrator gives you one:</p>
      <Command text={`gcloud projects add-iam-policy-binding PROJECT --member=${word(principal)} --role=roles/trainyard.member`} />
    </Empty>
  );
}
