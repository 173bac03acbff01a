/** A long name with its middle left out: names of many parameters differ at their ends. Pure. */
export function shortName(name: string, longest: number): string {
  if (name.length <= longest) return name;
  const end = Math.ceil((longest - 1) / 2);
  return `${name.slice(0, longest - 1 - end)}…${name.slice(-end)}`;
}
