// Zip archives, stored as they are. Pure.

export interface ZipFile {
  readonly name: string;
  readonly content: string | Uint8Array;
}

/** The archive; equal files give equal bytes: all are of the first day that zip knows. */
export function zip(files: readonly ZipFile[]): Uint8Array<ArrayBuffer> {
  const body: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let place = 0;
  for (const { name: path, content } of files) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const name = new TextEncoder().encode(path);
    const common = [
      ...two(20),
      ...two(0x0800),
      ...two(0),
      ...two(0),
      ...two(0x0021), // version 2.0, names in UTF-8, stored, midnight, 1 January 1980
      ...four(crc32(bytes)),
      ...four(bytes.length),
      ...four(bytes.length),
      ...two(name.length),
      ...two(0),
    ];
    const head = Uint8Array.from([...four(0x04034b50), ...common, ...name]);
    body.push(head, bytes);
    const attributes = [...two(0), ...two(0), ...two(0), ...four(0o100644 * 0x10000), ...four(place)];
    directory.push(Uint8Array.from([...four(0x02014b50), ...two(0x0314), ...common, ...attributes, ...name]));
    place += head.length + bytes.length;
  }
  const entries = joined(directory);
  const end = [
    ...four(0x06054b50),
    ...four(0),
    ...two(files.length),
    ...two(files.length),
    ...four(entries.length),
    ...four(place),
    ...two(0),
  ];
  return joined([...body, entries, Uint8Array.from(end)]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function two(value: number): number[] {
  return [value & 0xff, (value >>> 8) & 0xff];
}

function four(value: number): number[] {
  return [...two(value), ...two(value >>> 16)];
}

const SUMS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  return sum;
});

/** Source: RFC 1952, 8. */
export function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (sum >>> 8) ^ (SUMS[(sum ^ byte) & 0xff] ?? 0);
  return (sum ^ 0xffffffff) >>> 0;
}
