/** The worker's address; build.mjs fills it in. */
declare const LIVE_WORKER: string;
declare module "*.css";
