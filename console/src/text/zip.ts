// Zip archives of small files, stored as they are. Pure.

export interface ZipFile {
  readonly name: string;
  readonly text: string;
}

/** The archive; equal files give equal bytes: all are of the first day that zip knows. */
export function zip(files: readonly ZipFile[]): Uint8Array<ArrayBuffer> {
  const body: number[] = [];
  const directory: number[] = [];
  for (const { name, text } of files) {
    const bytes = new TextEncoder().encode(text);
    const place = body.length;
    const common = [
      ...two(20),
      ...two(0x0800),
      ...two(0),
      ...two(0),
      ...two(0x0021), // version 2.0, names in UTF-8, stored, midnight, 1 January 1980
      ...four(crc32(bytes)),
      ...four(bytes.length),
      ...four(bytes.length),
      ...two(new TextEncoder().encode(name).length),
      ...two(0),
    ];
    body.push(...four(0x04034b50), ...common, ...new TextEncoder().encode(name), ...bytes);
    directory.push(
      ...four(0x02014b50),
      ...two(0x0314),
      ...common,
      ...two(0),
      ...two(0),
      ...two(0),
      ...four(0o100644 * 0x10000),
      ...four(place),
      ...new TextEncoder().encode(name),
    );
  }
  const end = [
    ...four(0x06054b50),
    ...four(0),
    ...two(files.length),
    ...two(files.length),
    ...four(directory.length),
    ...four(body.length),
    ...two(0),
  ];
  return Uint8Array.from([...body, ...directory, ...end]);
}

function two(value: number): number[] {
  return [value & 0xff, (value >>> 8) & 0xff];
}

function four(value: number): number[] {
  return [...two(value), ...two(value >>> 16)];
}

/** Source: RFC 1952, 8. */
export function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}
