import { useContext, useState } from "preact/hooks";
import type { ApiError } from "../api/http.ts";
import { asApiError } from "../api/use.ts";
import { FormContext } from "../state/form.ts";
import { uploadToRuns } from "../state/runs.ts";
import { textAt, textsAt, withField } from "../text/yaml_edit.ts";
import { Failure } from "./Notices.tsx";
import { Text } from "./Text.tsx";
import "./PackageUpload.css";

const PACKAGES = ["trainingInput", "packageUris"];

/** Puts packages of this computer into a bucket, and names them in the job. */
export function PackageUpload({ project }: { readonly project: string }) {
  const form = useContext(FormContext);
  const [sending, setSending] = useState("");
  const [error, setError] = useState<ApiError>();
  const upload = async (files: readonly File[]) => {
    const uris = [...textsAt(form.tree, PACKAGES)];
    setError(undefined);
    for (const file of files) {
      setSending(file.name);
      const name = `${textAt(form.tree, ["jobId"]) || "uploads"}/packages/${file.name}`;
      uris.push(await uploadToRuns(project, name, file.type || "application/octet-stream", file));
    }
    form.change(withField(form.text, PACKAGES, [...new Set(uris)]));
  };
  const chosen = (event: Event) => {
    const input = event.currentTarget as HTMLInputElement;
    upload([...(input.files ?? [])])
      .catch((reason: unknown) => setError(asApiError(reason)))
      .finally(() => {
        setSending("");
        input.value = "";
      });
  };
  return (
    <div class="package-upload">
      <label class="button">
        Upload packages…
        <input
          class="hidden-text"
          type="file"
          multiple
          accept=".gz,.whl,.zip,.tar,.tgz"
          disabled={sending !== ""}
          onChange={chosen}
        />
      </label>
      {sending !== "" && (
        <span role="status" class="soft">
          Sending <Text value={sending} longest={80} />
        </span>
      )}
      {error && <Failure error={error} />}
    </div>
  );
}
