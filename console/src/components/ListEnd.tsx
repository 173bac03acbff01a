import type { Paged } from "../state/pages.ts";
import { Failure, Loading } from "./Notices.tsx";

/** Behind a list's last row: more is on its way, or could not be had. */
export function ListEnd({ of }: { readonly of: Pick<Paged<unknown>, "endError" | "loading" | "retry"> }) {
  if (of.endError) return <Failure error={of.endError} retry={of.retry} />;
  return of.loading ? <Loading /> : null;
}
