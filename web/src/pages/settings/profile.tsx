// Who is signed in, with which key, until when; and what one may change of oneself.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { go } from "../../app/navigation";
import { server, signOut } from "../../app/session";
import { dateTime, relativeTime } from "../../series/format";
import { patch } from "../../server/client";
import { Button } from "../../ui/button";
import { Select, TextField } from "../../ui/field";
import { Badge, CopyButton } from "../../ui/note";
import { say, sayError } from "../../ui/toast";
import { type Identity, SCOPES } from "./documents";

export function Profile({ identity, reload }: { identity: Identity; reload: () => void }): JSX.Element {
  const [email, setEmail] = useState(identity.email);
  const mayWrite = identity.scope !== "read";
  const change = async (some: { email?: string; entity?: string }): Promise<void> => {
    await patch<Identity>("/session", some);
    say("Saved", { tone: "good" });
    reload();
  };
  const command = `strobe login --host ${location.origin}`;
  const scope = SCOPES.find((one) => one.value === identity.scope);
  return (
    <section class="settings-card" aria-label="Profile">
      <dl class="settings-list">
        <div>
          <dt>User</dt>
          <dd>
            <strong>{identity.user}</strong> {identity.is_admin && <Badge tone="accent">admin</Badge>}
          </dd>
        </div>
        <div>
          <dt>Signed in with</dt>
          <dd>
            Key <code>{identity.key}</code>, scope {identity.scope}
            <p class="quiet">
              It {scope?.means}.{" "}
              {identity.expires_ns === null
                ? "It has no end."
                : `It ends ${relativeTime(identity.expires_ns / 1e6, Date.now())} (${dateTime(identity.expires_ns / 1e6)}).`}
            </p>
          </dd>
        </div>
        <div>
          <dt>Email</dt>
          <dd>
            <form
              class="settings-row"
              onSubmit={(event) => {
                event.preventDefault();
                void change({ email }).catch(sayError);
              }}
            >
              <TextField
                label="Email"
                type="email"
                value={email}
                placeholder="None"
                disabled={!mayWrite}
                onInput={setEmail}
              />
              <Button type="submit" disabled={!mayWrite || email === identity.email}>
                Save
              </Button>
            </form>
          </dd>
        </div>
        <div>
          <dt>Runs go to</dt>
          <dd>
            <Select
              label="Runs that name no entity go to"
              value={identity.entity ?? ""}
              disabled={!mayWrite}
              options={Object.entries(identity.entities).map(([name, role]) => ({
                value: name,
                title: name === identity.user ? `${name} (yourself)` : `${name} (${role})`,
              }))}
              onChange={(entity) => void change({ entity }).catch(sayError)}
            />
            <p class="quiet">Runs that name no entity of their own.</p>
          </dd>
        </div>
        <div>
          <dt>On machines that train</dt>
          <dd class="settings-row">
            <code>{command}</code>
            <CopyButton text={command} label="Copy the command" />
          </dd>
        </div>
        <div>
          <dt>Server</dt>
          <dd>
            Strobe {server.value?.version} at {location.host}
          </dd>
        </div>
      </dl>
      <Button icon="signOut" onClick={() => void signOut().then(() => go({ name: "signin" }), sayError)}>
        Sign out
      </Button>
    </section>
  );
}
