import type { FolderSummaryJson } from "proto/control/v1/folders_pb";
import { paths } from "../../api/paths.ts";
import { useJson } from "../../api/use.ts";
import { bytes, count, num } from "../../text/format.ts";
import { plain } from "../../text/plain.ts";
import { Time } from "../Time.tsx";

interface Props {
  readonly bucket: string;
  readonly prefix: string;
}

/** How much is in a folder. */
export function Usage({ bucket, prefix }: Props) {
  const { data, error } = useJson<FolderSummaryJson>(paths.folder(bucket, prefix, ":summarize"));
  if (error) return <span class="soft" title={plain(error.message)}>unknown</span>;
  if (data === undefined) return <span class="soft">…</span>;
  if (num(data.objects) === 0 && !data.more) return <span class="soft">empty</span>;
  const more = data.more ? "more than " : "";
  return (
    <span class="nowrap">
      {more}{bytes(num(data.bytes))} <span class="soft">in {count(num(data.objects), "object")}</span>
      {data.newest && <span class="soft">, newest <Time at={data.newest} /></span>}
    </span>
  );
}
