// The words for the machine's CPUs and memory, and for what the jobs asked for. Pure.

/** How much there is, and how much jobs asked for: where jobs share the machine that is more than there is. */
export function roomWords(all: number, held: number | undefined, show: (value: number) => string): string {
  const of = `of ${show(all)}`;
  if (held === undefined) return of;
  if (held === 0) return `${of}; no job asked for any`;
  return held > all ? `${of}; jobs asked for ${show(held)} and share it` : `${of}; jobs asked for ${show(held)}`;
}

/** Who may not see names sees none. */
export function diskName({ holds, path }: { readonly holds?: readonly string[]; readonly path?: string }): string {
  const of = holds?.length ? holds.join(", ") : (path ?? "");
  return of === "" ? "Disk" : `Disk of ${of}`;
}
