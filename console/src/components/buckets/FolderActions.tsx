import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { FileToSend } from "../../state/uploads.ts";
import { Button } from "../Button.tsx";
import { folderLink } from "./links.ts";

interface Props {
  readonly bucket: string;
  readonly prefix: string;
  readonly onFiles: (files: readonly FileToSend[]) => void;
  readonly onNewFolder: () => void;
  readonly onDelete: () => void;
  /** The box to look for names with. */
  readonly children: ComponentChildren;
}

/** What can be done with a folder. */
export function FolderActions({ bucket, prefix, onFiles, onNewFolder, onDelete, children }: Props) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const picked = (event: Event) => {
    const input = event.currentTarget as HTMLInputElement;
    onFiles([...(input.files ?? [])].map((file) => ({ file, name: prefix + (file.webkitRelativePath || file.name) })));
    input.value = "";
  };
  return (
    <div class="folder-actions" role="group" aria-label="The folder">
      {children}
      <input ref={files} type="file" multiple hidden aria-label="Files" onChange={picked} />
      <input ref={folder} type="file" hidden aria-label="Folder" onChange={picked} {...{ webkitdirectory: true }} />
      <Button kind="main" onClick={() => files.current?.click()}>Upload files</Button>
      <Button onClick={() => folder.current?.click()}>Upload a folder</Button>
      <Button onClick={onNewFolder}>New folder</Button>
      <span class="grow" />
      <span class="folder-downloads">
        <span class="soft">Download all:</span>
        <a href={folderLink(bucket, prefix, "zip")} download="">zip</a>
        <a href={folderLink(bucket, prefix, "tar")} download="">tar</a>
      </span>
      <Button kind="danger" onClick={onDelete}>{prefix === "" ? "Delete all" : "Delete folder"}</Button>
    </div>
  );
}
