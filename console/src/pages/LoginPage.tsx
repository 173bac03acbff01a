import type { SessionJson } from "proto/control/v1/session_pb";
import { useState } from "preact/hooks";
import { type ApiError, sendJson } from "../api/http.ts";
import { paths } from "../api/paths.ts";
import { rememberSecret } from "../api/secret.ts";
import { asApiError } from "../api/use.ts";
import { Button } from "../components/Button.tsx";
import { Command } from "../components/Command.tsx";
import { Failure } from "../components/Notices.tsx";
import "./LoginPage.css";

/** Exchanges a token for the session's cookie, which no script can read. */
export function LoginPage() {
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const login = (event: Event) => {
    event.preventDefault();
    setBusy(true);
    sendJson<SessionJson>("POST", paths.session(), { token: token.trim() }).then(
      ({ secret = "" }) => {
        rememberSecret(secret);
        location.reload();
      },
      (reason: unknown) => {
        setError(asApiError(reason));
        setBusy(false);
      },
    );
  };
  return (
    <main class="login stack">
      <h1>Log in to Trainyard</h1>
      <form class="stack" onSubmit={login}>
        <label class="stack">
          Access token
          <input class="field mono" type="password" autoComplete="current-password" required autoFocus
                 value={token} onInput={(event) => setToken(event.currentTarget.value)} />
        </label>
        {error && <Failure error={error} />}
        <Button kind="main" type="submit" disabled={busy}>{busy ? "Logging in…" : "Log in"}</Button>
      </form>
      <p class="soft">Get your token with</p>
      <Command text="trainyard auth print-access-token" />
    </main>
  );
}
