/** The worker's address; build.mjs fills it in. */
declare const LIVE_WORKER: string;
declare module "*.css";
declare module "*.py" {
  const text: string;
  export default text;
}
/** For a test that reads another part's source. */
declare module "node:fs" {
  export function readFileSync(path: string, encoding: "utf8"): string;
}
