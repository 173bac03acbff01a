// Files that were dropped on a page.
import type { FileToSend } from "./uploads.ts";

/** All files that were dropped, with those of folders. */
export async function filesOf(data: DataTransfer, prefix: string): Promise<FileToSend[]> {
  // What is dropped is there until this function first waits.
  const dropped = [...data.items].map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  const found: FileToSend[] = [];
  for (const one of dropped) {
    if (one instanceof File) found.push({ file: one, name: prefix + one.name });
    else if (one !== null) await collect(one, prefix, found);
  }
  return found;
}

async function collect(entry: FileSystemEntry, prefix: string, found: FileToSend[]): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed));
    found.push({ file, name: prefix + entry.name });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
    if (some.length === 0) return;
    for (const child of some) await collect(child, `${prefix}${entry.name}/`, found);
  }
}
