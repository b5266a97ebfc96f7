// Users of the server, for its admins: make, change, refuse.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { go } from "../../app/navigation";
import { counted } from "../../series/format";
import { useAnswer } from "../../server/answer";
import { patch, place, post } from "../../server/client";
import type { Paged } from "../../server/types";
import { Button, IconButton } from "../../ui/button";
import { Switch, TextField } from "../../ui/field";
import { Menu } from "../../ui/menu";
import { Badge, ErrorNote } from "../../ui/note";
import { say, sayError } from "../../ui/toast";
import type { Account, Identity } from "./documents";
import { Form } from "./form";
import { When } from "./keys";
import { NewKeyDialog } from "./new-key";

type UserChange = { email?: string; is_admin?: boolean; is_disabled?: boolean };

export function Users({ identity }: { identity: Identity }): JSX.Element {
  const { value, problem, reload } = useAnswer<Paged<Account>>("/users");
  const [isNew, setNew] = useState(false);
  const [keyFor, setKeyFor] = useState<string | null>(null);
  const [refused, setRefused] = useState<Account | null>(null);
  const [edited, setEdited] = useState<Account | null>(null);
  const change = async (user: Account, some: UserChange): Promise<void> => {
    await patch<Account>(place("users", user.name), some);
    say(`${user.name} was changed`, { tone: "good" });
    reload();
  };
  if (problem) return <ErrorNote error={problem} onRetry={reload} />;
  const users = value?.items ?? [];
  return (
    <section class="settings-part" aria-label="Users">
      <div class="settings-tools">
        <Button kind="primary" icon="add" onClick={() => setNew(true)}>
          Add user
        </Button>
        <span class="quiet">{value && counted(users.length, "user")}</span>
      </div>
      <div class="settings-table">
        <table>
          <thead>
            <tr>
              <th scope="col">User</th>
              <th scope="col">Rights</th>
              <th scope="col">Runs go to</th>
              <th scope="col">Made</th>
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {users.map((user) => {
              const isOwn = user.name === identity.user;
              const isOff = user.disabled_ns !== null;
              return (
                <tr key={user.name} class={isOff ? "settings-over" : ""}>
                  <th scope="row">
                    {user.name} {isOwn && <Badge tone="accent">you</Badge>}
                    {user.email && <div class="quiet">{user.email}</div>}
                  </th>
                  <td data-name="Rights">
                    {isOff ? (
                      <Badge tone="bad">disabled</Badge>
                    ) : user.is_admin ? (
                      <Badge tone="accent">admin</Badge>
                    ) : (
                      "user"
                    )}
                  </td>
                  <td data-name="Runs go to">{user.default_entity}</td>
                  <td data-name="Made">
                    <When ns={user.created_ns} now={Date.now()} none="" />
                  </td>
                  <td class="settings-actions">
                    <Menu
                      label={`Actions for ${user.name}`}
                      align="end"
                      trigger={(props) => (
                        <IconButton {...props} icon="dots" label={`Actions for ${user.name}`} />
                      )}
                      items={[
                        { title: "New key", icon: "add", isDisabled: isOff, run: () => setKeyFor(user.name) },
                        {
                          title: "Keys",
                          icon: "lock",
                          run: () =>
                            go("/settings/keys", { search: `?user=${encodeURIComponent(user.name)}` }),
                        },
                        { title: "Change email", icon: "edit", run: () => setEdited(user) },
                        {
                          title: user.is_admin ? "No longer an admin" : "Make an admin",
                          icon: "user",
                          isDisabled: isOwn,
                          run: () => void change(user, { is_admin: !user.is_admin }).catch(sayError),
                        },
                        isOff
                          ? {
                              title: "Enable",
                              icon: "check",
                              run: () => void change(user, { is_disabled: false }).catch(sayError),
                            }
                          : {
                              title: "Disable",
                              icon: "stop",
                              isDanger: true,
                              isDisabled: isOwn,
                              run: () => setRefused(user),
                            },
                      ]}
                    />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {isNew && (
        <NewUser
          onMade={(name) => {
            setNew(false);
            reload();
            setKeyFor(name);
          }}
          onClose={() => setNew(false)}
        />
      )}
      {keyFor && (
        <NewKeyDialog identity={identity} user={keyFor} onMade={() => {}} onClose={() => setKeyFor(null)} />
      )}
      {edited && (
        <EditEmail
          user={edited}
          onSave={async (email) => {
            await change(edited, { email });
            setEdited(null);
          }}
          onClose={() => setEdited(null)}
        />
      )}
      {refused && (
        <Form
          title={`Disable ${refused.name}?`}
          action="Disable"
          isDanger
          onDo={async () => {
            await change(refused, { is_disabled: true });
            setRefused(null);
          }}
          onClose={() => setRefused(null)}
        >
          <p>
            All keys of {refused.name} are refused from now on. Runs and memberships stay; it can be undone.
          </p>
        </Form>
      )}
    </section>
  );
}

function NewUser({ onMade, onClose }: { onMade: (name: string) => void; onClose: () => void }): JSX.Element {
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [isRoot, setRoot] = useState(false);
  const make = async (): Promise<void> => {
    await post<Account>("/users", { name: name.trim(), email, is_admin: isRoot });
    onMade(name.trim());
  };
  return (
    <Form title="Add a user" action="Add" isBlocked={!name.trim()} onDo={make} onClose={onClose}>
      <TextField label="Name" isLabelShown autofocus value={name} placeholder="ada" onInput={setName} />
      <TextField
        label="Email"
        isLabelShown
        type="email"
        value={email}
        placeholder="Optional"
        onInput={setEmail}
      />
      <Switch label="Admin: may see and change everything" isOn={isRoot} onChange={setRoot} />
      <p class="quiet">
        The name is also the entity that the user's runs belong to. A key to sign in with comes next.
      </p>
    </Form>
  );
}

interface EditEmailProps {
  readonly user: Account;
  readonly onSave: (email: string) => Promise<void>;
  readonly onClose: () => void;
}

function EditEmail({ user, onSave, onClose }: EditEmailProps): JSX.Element {
  const [email, setEmail] = useState(user.email);
  return (
    <Form title={`Email of ${user.name}`} action="Save" onDo={() => onSave(email)} onClose={onClose}>
      <TextField label="Email" isLabelShown autofocus type="email" value={email} onInput={setEmail} />
    </Form>
  );
}
