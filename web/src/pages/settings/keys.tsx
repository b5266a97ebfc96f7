// API keys: one's own; for admins anybody's.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { go, search } from "../../app/navigation";
import { signOut } from "../../app/session";
import { counted, dateTime, relativeTime } from "../../series/format";
import { useAnswer } from "../../server/answer";
import { place, remove } from "../../server/client";
import type { Paged } from "../../server/types";
import { Button } from "../../ui/button";
import { Select, Switch } from "../../ui/field";
import { Badge, EmptyState, ErrorNote } from "../../ui/note";
import { say } from "../../ui/toast";
import type { Account, Identity, Key } from "./documents";
import { Form } from "./form";
import { NewKeyDialog } from "./new-key";
import { isAdmin, keyState } from "./rights";

export function Keys({ identity }: { identity: Identity }): JSX.Element {
  const isRoot = isAdmin(identity);
  const asked = new URLSearchParams(search.value).get("user");
  const user = (isRoot && asked) || (identity.user as string);
  const { value, problem, reload } = useAnswer<Paged<Key>>("/keys", user === identity.user ? {} : { user });
  const users = useAnswer<Paged<Account>>(isRoot ? "/users" : null).value;
  const [isNew, setNew] = useState(false);
  const [isAll, setAll] = useState(false);
  const [revoked, setRevoked] = useState<Key | null>(null);
  const now = Date.now();
  const all = [...(value?.items ?? [])].reverse();
  const live = all.filter((key) => keyState(key, now) === "live");
  const shown = isAll ? all : live;
  const revoke = async (key: Key): Promise<void> => {
    await remove(place("keys", key.id));
    setRevoked(null);
    if (key.id === identity.key) {
      await signOut();
      go({ name: "signin" });
      return;
    }
    say(`Key ${key.id} is refused from now on`, { tone: "good" });
    reload();
  };
  if (problem) return <ErrorNote error={problem} onRetry={reload} />;
  return (
    <section class="settings-part" aria-label="Keys">
      <div class="settings-tools">
        <Button kind="primary" icon="add" onClick={() => setNew(true)}>
          New key
        </Button>
        {users && users.items.length > 1 && (
          <Select
            label="Keys of"
            isLabelShown
            value={user}
            options={users.items.map((one) => ({ value: one.name, title: one.name }))}
            onChange={(name) =>
              go("/settings/keys", {
                search: name === identity.user ? "" : `?user=${encodeURIComponent(name)}`,
              })
            }
          />
        )}
        {live.length < all.length && (
          <Switch
            label={`Show ${counted(all.length - live.length, "key")} that ended`}
            isOn={isAll}
            onChange={setAll}
          />
        )}
      </div>
      {shown.length === 0 && value ? (
        <EmptyState title={`${user} has no key that works`} icon="lock">
          <p>A key is what machines send runs with, and what one signs in with.</p>
        </EmptyState>
      ) : (
        <div class="settings-table">
          <table>
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Scope</th>
                <th scope="col">Made</th>
                <th scope="col">Last used</th>
                <th scope="col">Ends</th>
                <th scope="col">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.map((key) => (
                <Row
                  key={key.id}
                  apiKey={key}
                  now={now}
                  isOwn={key.id === identity.key}
                  onRevoke={setRevoked}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {isNew && (
        <NewKeyDialog identity={identity} user={user} onMade={reload} onClose={() => setNew(false)} />
      )}
      {revoked && (
        <Form
          title="Revoke the key?"
          action="Revoke"
          isDanger
          onDo={() => revoke(revoked)}
          onClose={() => setRevoked(null)}
        >
          <p>
            <strong>{revoked.label || revoked.id}</strong> of {revoked.account} is refused with the next
            request, for good. Machines that use it stop sending; what they have logged stays with them.
          </p>
          {revoked.id === identity.key && <p>You are signed in with this key: you will be signed out.</p>}
        </Form>
      )}
    </section>
  );
}

interface RowProps {
  readonly apiKey: Key;
  readonly now: number;
  readonly isOwn: boolean;
  readonly onRevoke: (key: Key) => void;
}

function Row({ apiKey: key, now, isOwn, onRevoke }: RowProps): JSX.Element {
  const state = keyState(key, now);
  return (
    <tr class={state === "live" ? "" : "settings-over"}>
      <th scope="row">
        {key.label || <span class="quiet">no label</span>}{" "}
        {isOwn && <Badge tone="accent">this session</Badge>}
        <div>
          <code class="quiet">{key.id}</code>
        </div>
      </th>
      <td data-name="Scope">{key.scope}</td>
      <td data-name="Made">
        <When ns={key.created_ns} now={now} none="" />
      </td>
      <td data-name="Last used">
        <When ns={key.used_ns} now={now} none="never" />
      </td>
      <td data-name="Ends">
        {state === "revoked" ? (
          <Badge tone="bad">revoked</Badge>
        ) : (
          <When ns={key.expires_ns} now={now} none="never" />
        )}
        {state === "expired" && <Badge tone="warn">expired</Badge>}
      </td>
      <td class="settings-actions">
        {state === "live" && (
          <Button kind="quiet" aria-label={`Revoke ${key.label || key.id}`} onClick={() => onRevoke(key)}>
            Revoke
          </Button>
        )}
      </td>
    </tr>
  );
}

export function When({ ns, now, none }: { ns: number | null; now: number; none: string }): JSX.Element {
  if (ns === null) return <span class="quiet">{none}</span>;
  const ms = ns / 1e6;
  return (
    <time dateTime={new Date(ms).toISOString()} title={dateTime(ms)}>
      {relativeTime(ms, now)}
    </time>
  );
}
