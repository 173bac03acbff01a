// Which job an event file is of, and which of its curves are in the file's folder. Pure.
import type { ScalarList_ItemJson, ScalarListJson } from "proto/control/v1/curves_pb";
import { folderOf, foldersTo } from "./objects.ts";

/** Of folders around a file; a filter of more would be refused. */
const FOLDERS_MOST = 12;

/** A filter of jobs whose job-dir is one of the folders around an object. */
export function jobsAround(bucket: string, name: string): string {
  const folders = ["", ...foldersTo(folderOf(name))].slice(-FOLDERS_MOST);
  const dirs = folders.flatMap((folder) => [`gs://${bucket}/${folder}`, `gs://${bucket}/${folder}`.replace(/\/$/, "")]);
  return dirs.map((dir) => `trainingInput.jobDir=${JSON.stringify(dir)}`).join(" OR ");
}

/** The curves that event files of an object's folder have; tags of one folder may be of several files. */
export function curvesBeside(list: ScalarListJson, bucket: string, name: string): readonly ScalarList_ItemJson[] {
  const folder = `gs://${bucket}/${folderOf(name)}`;
  const places = (list.places ?? []).map((place) => (place.endsWith("/") ? place : `${place}/`));
  const place = places.filter((one) => folder.startsWith(one)).sort((one, other) => other.length - one.length)[0];
  if (place === undefined) return [];
  const run = folder.slice(place.length).replace(/\/$/, "");
  return (list.items ?? []).filter((item) => {
    const own = item.name ?? {};
    return !own.hypertune && [own.trialId, own.run === "." ? "" : own.run].filter(Boolean).join("/") === run;
  });
}
