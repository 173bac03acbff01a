// Dark and light: the system's choice, unless the reader made one.
import { useEffect, useState } from "preact/hooks";

export type Theme = "light" | "dark";

const KEY = "trainyard.theme";
const CHANGED = "trainyard:theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function chosen(): Theme | null {
  const stored = localStorage.getItem(KEY);
  return stored === "light" || stored === "dark" ? stored : null;
}

export function theme(): Theme {
  return chosen() ?? (system.matches ? "dark" : "light");
}

/** Shows what was chosen before; once, at the start. */
export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme();
}

export function setTheme(wanted: Theme): void {
  if (wanted === (system.matches ? "dark" : "light")) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, wanted);
  applyTheme();
  dispatchEvent(new Event(CHANGED));
}

/** For what draws by itself: canvases draw again when it changes. */
export function useTheme(): Theme {
  const [now, setNow] = useState(theme);
  useEffect(() => {
    const changed = () => {
      applyTheme();
      setNow(theme());
    };
    system.addEventListener("change", changed);
    addEventListener(CHANGED, changed);
    return () => {
      system.removeEventListener("change", changed);
      removeEventListener(CHANGED, changed);
    };
  }, []);
  return now;
}
