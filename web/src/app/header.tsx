// The bar at the top: where one is, the palette, the theme, who is signed in.

import type { JSX } from "preact";
import { Keys } from "../keys/keys";
import { isPaletteOpen } from "../keys/palette";
import { isSheetOpen } from "../keys/sheet";
import { lostSince } from "../server/client";
import { Button, IconButton } from "../ui/button";
import { Icon } from "../ui/icon";
import { Menu } from "../ui/menu";
import { sayError } from "../ui/toast";
import { Logo } from "./logo";
import { go, Link, page } from "./navigation";
import type { Page } from "./route";
import { server, signOut } from "./session";
import { DENSITIES, density, setDensity, setTheme, THEMES, theme } from "./theme";
import { pageTitle } from "./title";
import "./header.css";

export function Header(): JSX.Element {
  return (
    <header class="header">
      <Link to={{ name: "projects" }} class="header-logo" aria-label="Strobe: projects">
        <Logo />
      </Link>
      <Crumbs />
      <ServerState />
      <div class="header-end">
        <Button
          class="header-search"
          aria-label="Search and commands"
          onClick={() => {
            isPaletteOpen.value = true;
          }}
        >
          <Icon name="search" />
          <span class="header-search-text">Search</span>
          <Keys keys="mod+k" />
        </Button>
        <IconButton
          icon="keyboard"
          label="Keys"
          keys="?"
          class="header-keys"
          onClick={() => {
            isSheetOpen.value = true;
          }}
        />
        <IconButton icon="gauge" label="Benchmarks" keys="g b" onClick={() => go({ name: "benchmarks" })} />
        <ThemeMenu />
        <UserMenu />
      </div>
    </header>
  );
}

/** Whether the server answers; which one it is, for whoever points at it. */
function ServerState(): JSX.Element | null {
  const facts = server.value;
  if (facts === null) return null;
  const isLost = lostSince.value !== null;
  const name = `${facts.auth ? "Strobe server" : "strobe ui"} ${facts.version} at ${location.host}`;
  return (
    <span
      class={`server-state${isLost ? " server-lost" : ""}`}
      title={isLost ? `${name} does not answer` : name}
    >
      <span class="server-dot" aria-hidden="true" />
      {isLost ? "Not connected" : "Connected"}
    </span>
  );
}

interface Crumb {
  title: string;
  to: Page | null;
}

export function crumbsOf(at: Page, title: string | null): Crumb[] {
  const own = (text: string): Crumb => ({ title: title ?? text, to: null });
  if (at.name === "projects") return [own("Projects")];
  if (at.name === "settings") return [own("Settings")];
  if (at.name === "benchmarks") return [own("Benchmarks")];
  if (at.name === "signin") return [own("Sign in")];
  if (at.name === "missing") return [own("Not found")];
  const project: Page = { name: "workspace", entity: at.entity, project: at.project };
  const entity: Crumb = { title: at.entity, to: { name: "projects" } };
  if (at.name === "workspace") return [entity, own(at.project)];
  return [entity, { title: at.project, to: project }, own(at.name === "run" ? at.run : "Compare")];
}

function Crumbs(): JSX.Element {
  const crumbs = crumbsOf(page.value, pageTitle.value);
  return (
    <nav class="crumbs" aria-label="Where you are">
      <ol>
        {crumbs.map((crumb) => (
          <li key={crumb.title} class="cut">
            {crumb.to ? (
              <Link to={crumb.to}>{crumb.title}</Link>
            ) : (
              <span aria-current="page">{crumb.title}</span>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

function ThemeMenu(): JSX.Element {
  const icons = { system: "monitor", light: "sun", dark: "moon" } as const;
  return (
    <Menu
      label="Look"
      align="end"
      trigger={(props) => <IconButton {...props} icon={icons[theme.value]} label="Look" />}
      items={[
        ...THEMES.map((one, index) => ({
          title: one.title,
          icon: icons[one.value],
          isChosen: theme.value === one.value,
          ...(index === 0 && { heading: "Colours" }),
          run: () => setTheme(one.value),
        })),
        ...DENSITIES.map((one, index) => ({
          title: one.title,
          isChosen: density.value === one.value,
          ...(index === 0 && { heading: "Density" }),
          run: () => setDensity(one.value),
        })),
      ]}
    />
  );
}

function UserMenu(): JSX.Element | null {
  const facts = server.value;
  if (facts === null) return null;
  if (!facts.auth)
    return <IconButton icon="settings" label="Settings" onClick={() => go({ name: "settings", tab: "" })} />;
  if (facts.user === null) {
    if (page.value.name === "signin") return null;
    return (
      <Button kind="primary" onClick={() => go({ name: "signin" })}>
        Sign in
      </Button>
    );
  }
  return (
    <Menu
      label={`Signed in as ${facts.user}`}
      align="end"
      trigger={(props) => <IconButton {...props} icon="user" label={`Signed in as ${facts.user}`} />}
      items={[
        {
          title: "Settings",
          icon: "settings",
          heading: facts.user,
          run: () => go({ name: "settings", tab: "" }),
        },
        {
          title: "Sign out",
          icon: "signOut",
          run: () => void signOut().then(() => go({ name: "signin" }), sayError),
        },
      ]}
    />
  );
}
