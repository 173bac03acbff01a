// What holds for every test that renders something.
import { cleanup, configure } from "@testing-library/preact";
import { afterEach } from "vitest";

// A busy machine may take long to answer; a test waits for what it expects, and only its own time limit ends that.
configure({ asyncUtilTimeout: 120_000 });

// What stays mounted keeps its timers, and they run when the page is gone.
afterEach(cleanup);
