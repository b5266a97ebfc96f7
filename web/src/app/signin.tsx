// Signing in at a `strobe server`: a key becomes a session; then back to where one wanted to go.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../ui/button";
import { TextField } from "../ui/field";
import { Logo } from "./logo";
import { go, search } from "./navigation";
import { signIn } from "./session";
import "./signin.css";

export function SignIn(): JSX.Element {
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    if (!key.trim()) {
      setProblem("Paste a key first.");
      return;
    }
    setBusy(true);
    try {
      await signIn(key.trim());
      go(nextOf(search.value), { replace: true });
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <main class="signin">
      <form
        class="signin-card"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <span class="signin-logo">
          <Logo />
        </span>
        <h1>Sign in</h1>
        {/* What a key is filed under by a browser that keeps it. */}
        <input type="text" name="username" autocomplete="username" value="strobe" readOnly hidden />
        <TextField
          label="Key"
          isLabelShown
          type="password"
          placeholder="strobe_…"
          autocomplete="current-password"
          autofocus
          value={key}
          problem={problem}
          onInput={(text) => {
            setKey(text);
            setProblem(null);
          }}
        />
        <Button kind="primary" type="submit" disabled={isBusy}>
          {isBusy ? "Signing in" : "Sign in"}
        </Button>
        <p class="quiet">
          The one that <code>strobe login</code> uses. Whoever runs the server makes keys with{" "}
          <code>strobe server key add NAME</code>.
        </p>
      </form>
    </main>
  );
}

/** Return where to go after: an address of ours, never of anybody else. */
export function nextOf(text: string): string {
  const next = new URLSearchParams(text).get("next") ?? "/";
  return /^\/(?![/\\])/.test(next) && !next.startsWith("/signin") ? next : "/";
}
