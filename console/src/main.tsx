import { render } from "preact";
import "./styles/base.css";
import { App } from "./app.tsx";
import { applyTheme } from "./state/theme.ts";

applyTheme();
render(<App />, document.body);

// The next page is there before it is wanted.
addEventListener("load", () => setTimeout(() => void import("./pages/later.ts"), 1000));
