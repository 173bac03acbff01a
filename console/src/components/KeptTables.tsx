import type { ImageListJson, ImageList_ImageJson } from "proto/control/v1/machine_pb";
import type { RuntimeJson, RuntimeListJson } from "proto/control/v1/runtimes_pb";
import { useState } from "preact/hooks";
import { bytes, num } from "../text/format.ts";
import { Button } from "./Button.tsx";
import { type Column, FactTable } from "./FactTable.tsx";
import { Text } from "./Text.tsx";
import { Time } from "./Time.tsx";

/** Runtime versions that are built, with their sizes; the others behind a button. */
export function RuntimeTable({ list }: { readonly list: RuntimeListJson }) {
  const [all, setAll] = useState(false);
  const runtimes = list.runtimes ?? [];
  const built = runtimes.filter(({ state }) => state !== undefined && /^(being )?built/.test(state));
  const columns: Column<RuntimeJson>[] = [
    {
      name: "Version",
      cell: ({ version, isDefault }) => (
        <>
          <Text value={version} longest={60} />
          {isDefault && <span class="soft"> default</span>}
        </>
      ),
    },
    { name: "State", wrap: true, cell: ({ state }) => <Text value={state} longest={200} /> },
    { name: "Python", cell: ({ python, pythons }) => <Text value={python || pythons?.join(", ")} longest={60} /> },
    { name: "Size", number: true, cell: ({ sizeBytes }) => (num(sizeBytes) > 0 ? bytes(num(sizeBytes)) : "") },
    { name: "Package layers", number: true, cell: ({ packageLayers }) => packageLayers ?? "" },
    { name: "Last use", cell: ({ lastUse }) => (lastUse ? <Time at={lastUse} /> : "") },
  ];
  return (
    <>
      {built.length === 0 && !all && <p class="soft body">None is built: the first job of a version builds it.</p>}
      {(all || built.length > 0) && (
        <FactTable label="Runtime versions" columns={columns} rows={all ? runtimes : built} id={({ version }) => version ?? ""} />
      )}
      {!all && runtimes.length > built.length && (
        <Button kind="quiet" onClick={() => setAll(true)}>
          Show {runtimes.length - built.length} that are not built
        </Button>
      )}
    </>
  );
}

/** Images that are kept, largest first. */
export function ImageTable({ list }: { readonly list: ImageListJson }) {
  const columns: Column<ImageList_ImageJson>[] = [
    {
      name: "Image",
      wrap: true,
      cell: ({ reference, digest }) => <Text value={reference || digest} longest={200} class="mono" />,
    },
    { name: "Size", number: true, cell: ({ sizeBytes }) => bytes(num(sizeBytes)) },
    { name: "Last use", cell: ({ lastUseTime }) => (lastUseTime ? <Time at={lastUseTime} /> : "") },
    { name: "In use", cell: ({ inUse }) => (inUse ? "in use" : "") },
  ];
  const rows = (list.images ?? []).toSorted((one, other) => num(other.sizeBytes) - num(one.sizeBytes));
  return rows.length === 0 ? (
    <p class="soft body">No image is kept.</p>
  ) : (
    <FactTable label="Images" columns={columns} rows={rows} id={({ digest }) => digest ?? ""} />
  );
}
