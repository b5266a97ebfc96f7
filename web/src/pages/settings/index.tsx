// Settings: who one is, keys, users, teams, who sees which project, what is kept, and how the page looks. `strobe ui` knows
// one person, so it has only the last two.

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { PageProps } from "../../app/app";
import { Link } from "../../app/navigation";
import { server } from "../../app/session";
import { useTitle } from "../../app/title";
import { useAnswer } from "../../server/answer";
import { EmptyState, ErrorNote } from "../../ui/note";
import { Tabs } from "../../ui/tabs";
import type { Identity } from "./documents";
import { Keys } from "./keys";
import { Look } from "./look";
import { Profile } from "./profile";
import { ProjectAccess } from "./projects";
import { isAdmin } from "./rights";
import { Storage } from "./storage";
import { Teams } from "./teams";
import { Users } from "./users";
import "./settings.css";

const TITLES: Readonly<Record<string, string>> = {
  profile: "Profile",
  keys: "Keys",
  users: "Users",
  teams: "Teams",
  projects: "Projects",
  storage: "Storage",
  look: "Look",
};

/** Return the tabs that make sense for whoever is there. */
export function tabsFor(isServer: boolean, identity: Identity | null): string[] {
  if (!isServer) return ["look", "storage"];
  if (identity === null || identity.user === null) return ["look"];
  return ["profile", "keys", ...(isAdmin(identity) ? ["users"] : []), "teams", "projects", "storage", "look"];
}

export function SettingsPage({ tab }: PageProps<"settings">): JSX.Element {
  const facts = server.value;
  const isServer = facts?.auth === true;
  const { value, problem, reload } = useAnswer<Identity>(facts?.user ? "/session" : null);
  const identity = value ?? null;
  const tabs = tabsFor(isServer, identity);
  const chosen = tab || (tabs[0] as string);
  useTitle("Settings");
  // On a phone the chosen tab may lie beyond the edge.
  useEffect(() => {
    const shown = document.querySelector(".settings .tab[aria-current]");
    shown?.scrollIntoView({ inline: "nearest", block: "nearest" });
  }, [chosen, tabs.length]);
  const isReady = facts !== null && (!facts.user || identity !== null);
  return (
    <main class="page settings">
      <h1>Settings</h1>
      {facts !== null && !isServer && (
        <p class="settings-said">
          This is <code>strobe ui</code>: it shows the runs of this machine to whoever sits at it, so there
          are no users, keys or access to decide about. <code>strobe server</code> has them.
        </p>
      )}
      {facts !== null && isServer && !facts.user && (
        <p class="settings-said">
          You are not signed in. <Link to={{ name: "signin" }}>Sign in</Link> to see your keys and projects.
        </p>
      )}
      {problem && <ErrorNote error={problem} onRetry={reload} />}
      {isReady && (
        <>
          <Tabs
            label="Settings"
            chosen={chosen}
            tabs={tabs.map((id) => ({ id, title: TITLES[id] ?? id, to: { name: "settings", tab: id } }))}
          />
          {tabs.includes(chosen) ? (
            <Part tab={chosen} identity={identity} reload={reload} />
          ) : (
            <EmptyState
              title={TITLES[chosen] ? `${TITLES[chosen]} are not for you here` : "There is no such setting"}
            >
              <p>
                {TITLES[chosen] && isServer ? (
                  "That needs an admin of the server, signed in with a key of scope admin."
                ) : (
                  <Link to={{ name: "settings", tab: "" }}>See all settings</Link>
                )}
              </p>
            </EmptyState>
          )}
        </>
      )}
    </main>
  );
}

interface PartProps {
  readonly tab: string;
  readonly identity: Identity | null;
  readonly reload: () => void;
}

function Part({ tab, identity, reload }: PartProps): JSX.Element | null {
  if (tab === "look") return <Look />;
  if (tab === "storage") return <Storage />;
  if (identity === null) return null;
  switch (tab) {
    case "profile":
      return <Profile key={identity.email} identity={identity} reload={reload} />;
    case "keys":
      return <Keys identity={identity} />;
    case "users":
      return <Users identity={identity} />;
    case "teams":
      return <Teams identity={identity} />;
    default:
      return <ProjectAccess identity={identity} />;
  }
}
