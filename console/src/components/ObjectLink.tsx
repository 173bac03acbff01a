import { address } from "../text/address.ts";
import { Link } from "./Link.tsx";
import { Text } from "./Text.tsx";

/** gs://BUCKET/PATH as a link to it among the buckets; any other address as text. */
export function ObjectLink({ uri }: { readonly uri: string }) {
  const found = /^gs:\/\/([^/]+)\/?(.*)$/.exec(uri);
  const face = <Text value={uri} longest={300} class="mono" />;
  if (found === null) return face;
  const path = (found[2] ?? "")
    .split("/")
    .filter((part) => part !== "")
    .map(encodeURIComponent);
  return <Link to={[address`/buckets/${found[1] ?? ""}`, ...path].join("/")}>{face}</Link>;
}
