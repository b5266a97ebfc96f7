// A new key: what it is for, then the key itself, this once.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { post } from "../../server/client";
import type { Scope } from "../../server/types";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Select, TextField } from "../../ui/field";
import { CopyButton } from "../../ui/note";
import { type Identity, type NewKey, SCOPES } from "./documents";
import { Form } from "./form";
import { endOf, LIFETIMES, type Lifetime } from "./rights";

export interface NewKeyDialogProps {
  readonly identity: Identity;
  readonly user: string;
  readonly onMade: () => void;
  readonly onClose: () => void;
}

const RANKS: readonly Scope[] = ["read", "write", "admin"];

export function NewKeyDialog({ identity, user, onMade, onClose }: NewKeyDialogProps): JSX.Element {
  const most = RANKS.indexOf(identity.scope ?? "read");
  const [label, setLabel] = useState("");
  const [scope, setScope] = useState<Scope>(most > 0 ? "write" : "read");
  const [lifetime, setLifetime] = useState<Lifetime>("90");
  const [made, setMade] = useState<NewKey | null>(null);
  const isOwn = user === identity.user;
  if (made !== null) return <Shown made={made} onClose={onClose} />;
  const make = async (): Promise<void> => {
    const body = { label, scope, expires_ns: endOf(lifetime, Date.now()), ...(!isOwn && { user }) };
    setMade(await post<NewKey>("/keys", body));
    onMade();
  };
  return (
    <Form
      title={isOwn ? "New key" : `New key for ${user}`}
      action="Make the key"
      onDo={make}
      onClose={onClose}
    >
      <TextField
        label="Label"
        isLabelShown
        autofocus
        placeholder="Where it is used: laptop, cluster, CI"
        value={label}
        onInput={setLabel}
      />
      <Select
        label="Scope"
        isLabelShown
        value={scope}
        options={SCOPES.slice(0, most + 1).map(({ value, title, means }) => ({
          value,
          title: `${title}: ${means}`,
        }))}
        onChange={setScope}
      />
      <Select label="Ends after" isLabelShown value={lifetime} options={LIFETIMES} onChange={setLifetime} />
      <p class="quiet">
        {isOwn && "A key allows no more, and lives no longer, than the one you are signed in with. "}
        For machines that only train, write is enough.
      </p>
    </Form>
  );
}

function Shown({ made, onClose }: { made: NewKey; onClose: () => void }): JSX.Element {
  return (
    <Dialog
      title="The new key"
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div class="dialog-body settings-form">
        <p>
          This is the only time that it is shown: the server keeps a hash of it. It belongs to{" "}
          <strong>{made.about.account}</strong>.
        </p>
        <div class="settings-key">
          <code data-key>{made.key}</code>
          <CopyButton text={made.key} label="Copy the key" />
        </div>
        <p class="quiet">
          On the machine that uses it: <code>strobe login --host {location.origin}</code>, or set{" "}
          <code>STROBE_API_KEY</code>.
        </p>
      </div>
    </Dialog>
  );
}
