import { useEffect, useState } from "preact/hooks";
import { send } from "../../api/http.ts";
import { useAnswer } from "../../api/use.ts";
import { lastPart } from "../../text/objects.ts";
import { plain } from "../../text/plain.ts";
import { Empty, Loaded } from "../Notices.tsx";

interface Props {
  readonly link: string;
  /** By its first bytes: what the object says of itself does not count. */
  readonly type: string;
  readonly name: string;
}

/** An image, as a picture and nothing else. */
export function ImagePreview({ link, type, name }: Props) {
  const bytes = useAnswer(link, async (signal) => (await send(link, { signal })).arrayBuffer());
  const [url, setUrl] = useState("");
  const [broken, setBroken] = useState(false);
  useEffect(() => {
    if (bytes.data === undefined) return;
    const made = URL.createObjectURL(new Blob([bytes.data], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes.data, type]);
  if (broken) return <Empty title="The image is damaged: it cannot be shown." />;
  return (
    <Loaded of={bytes}>
      {() => url !== "" && <img class="preview-image" src={url} alt={plain(lastPart(name))} onError={() => setBroken(true)} />}
    </Loaded>
  );
}
