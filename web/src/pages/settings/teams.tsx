// Teams: who shares an entity with whom. Admins make them, their owners decide who is in them.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { counted } from "../../series/format";
import { useAnswer } from "../../server/answer";
import { place, post, put, remove } from "../../server/client";
import type { Paged } from "../../server/types";
import { Button, IconButton } from "../../ui/button";
import { Select, TextField } from "../../ui/field";
import { EmptyState, ErrorNote } from "../../ui/note";
import { say, sayError } from "../../ui/toast";
import { type Account, type Identity, type Member, ROLES, type Role, type Team } from "./documents";
import { Form } from "./form";
import { isAdmin, mayPlace } from "./rights";

export function Teams({ identity }: { identity: Identity }): JSX.Element {
  const { value, problem, reload } = useAnswer<Paged<Team>>("/teams");
  const isRoot = isAdmin(identity);
  const users =
    useAnswer<Paged<Account>>(isRoot ? "/users" : null).value?.items.map((user) => user.name) ?? [];
  const [isNew, setNew] = useState(false);
  if (problem) return <ErrorNote error={problem} onRetry={reload} />;
  const teams = value?.items ?? [];
  return (
    <section class="settings-part" aria-label="Teams">
      {isRoot && (
        <div class="settings-tools">
          <Button kind="primary" icon="add" onClick={() => setNew(true)}>
            Add team
          </Button>
          <span class="quiet">{value && counted(teams.length, "team")}</span>
        </div>
      )}
      {value && teams.length === 0 && (
        <EmptyState title={isRoot ? "There is no team yet" : "You are in no team"} icon="group">
          <p>
            A team is an entity that several users share: its private projects are theirs.
            {!isRoot && " Admins of the server make teams."}
          </p>
        </EmptyState>
      )}
      {teams.map((team) => (
        <TeamCard
          key={team.name}
          team={team}
          isOurs={mayPlace(identity, team.name)}
          users={users}
          reload={reload}
        />
      ))}
      {isNew && (
        <NewTeam
          owner={identity.user as string}
          users={users}
          onMade={() => {
            setNew(false);
            reload();
          }}
          onClose={() => setNew(false)}
        />
      )}
    </section>
  );
}

interface TeamCardProps {
  readonly team: Team;
  /** Whether one decides about it. */
  readonly isOurs: boolean;
  /** All users, where one may know them. */
  readonly users: readonly string[];
  readonly reload: () => void;
}

function TeamCard({ team, isOurs, users, reload }: TeamCardProps): JSX.Element {
  const [added, setAdded] = useState("");
  const [removed, setRemoved] = useState<Member | null>(null);
  const path = (user: string): string => place("teams", team.name, "members", user);
  const set = async (user: string, role: Role): Promise<void> => {
    await put<Member>(path(user), { role });
    say(`${user} is ${role} of ${team.name}`, { tone: "good" });
    setAdded("");
    reload();
  };
  const outside = users.filter((user) => !team.members.some((member) => member.account === user));
  return (
    <section class="settings-card" aria-label={`Team ${team.name}`}>
      <h2>{team.name}</h2>
      <ul class="members">
        {team.members.map((member) => (
          <li key={member.account}>
            <span class="cut">{member.account}</span>
            {isOurs ? (
              <>
                <Select
                  label={`Role of ${member.account} in ${team.name}`}
                  value={member.role}
                  options={ROLES.map(({ value, title }) => ({ value, title }))}
                  onChange={(role) =>
                    void set(member.account, role).catch((error: Error) => {
                      sayError(error);
                      reload();
                    })
                  }
                />
                <IconButton
                  icon="close"
                  label={`Remove ${member.account} from ${team.name}`}
                  onClick={() => setRemoved(member)}
                />
              </>
            ) : (
              <span class="quiet">{member.role}</span>
            )}
          </li>
        ))}
      </ul>
      {isOurs && (
        <form
          class="settings-row"
          onSubmit={(event) => {
            event.preventDefault();
            if (added.trim()) void set(added.trim(), "member").catch(sayError);
          }}
        >
          {outside.length > 0 ? (
            <Select
              label={`User to add to ${team.name}`}
              value={added}
              options={[
                { value: "", title: "Add a user" },
                ...outside.map((name) => ({ value: name, title: name })),
              ]}
              onChange={setAdded}
            />
          ) : (
            <TextField
              label={`User to add to ${team.name}`}
              placeholder="Name of a user"
              value={added}
              onInput={setAdded}
            />
          )}
          <Button type="submit" disabled={!added.trim()}>
            Add
          </Button>
        </form>
      )}
      {removed && (
        <Form
          title={`Remove ${removed.account} from ${team.name}?`}
          action="Remove"
          isDanger
          onDo={async () => {
            await remove(path(removed.account));
            setRemoved(null);
            reload();
          }}
          onClose={() => setRemoved(null)}
        >
          <p>
            {removed.account} no longer sees private projects of {team.name}. Runs stay in the team; runs that
            went here by default go to {removed.account} from now on.
          </p>
        </Form>
      )}
    </section>
  );
}

interface NewTeamProps {
  readonly owner: string;
  readonly users: readonly string[];
  readonly onMade: () => void;
  readonly onClose: () => void;
}

function NewTeam({ owner: first, users, onMade, onClose }: NewTeamProps): JSX.Element {
  const [name, setName] = useState("");
  const [owner, setOwner] = useState(first);
  const make = async (): Promise<void> => {
    await post<Team>("/teams", { name: name.trim(), owner });
    onMade();
  };
  return (
    <Form title="Add a team" action="Add" isBlocked={!name.trim()} onDo={make} onClose={onClose}>
      <TextField label="Name" isLabelShown autofocus value={name} placeholder="lab" onInput={setName} />
      <Select
        label="Owner"
        isLabelShown
        value={owner}
        options={users.map((user) => ({ value: user, title: user }))}
        onChange={setOwner}
      />
      <p class="quiet">
        The name becomes an entity. {ROLES.map((role) => `A ${role.value} ${role.means}.`).join(" ")}
      </p>
    </Form>
  );
}
