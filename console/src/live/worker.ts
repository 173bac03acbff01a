// The browser's one worker, which has the streams of all its pages.
import { type FromHub, Hub } from "./hub.ts";
import { type ToWorker, untilGone } from "./presence.ts";

const hub = new Hub();

addEventListener("connect", (event) => {
  const port = (event as MessageEvent).ports[0];
  if (port === undefined) return;
  const say = hub.join((message: FromHub) => port.postMessage(message));
  port.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    if (data.kind !== "alive") say(data);
    else void untilGone(data.lock).then(() => say({ kind: "leave" }));
  };
});
