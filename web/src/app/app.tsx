// The frame: banner, header, the page that the address names, and what lies over it.

import { effect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Palette } from "../keys/palette";
import { Sheet } from "../keys/sheet";
import { needsSignIn } from "../server/client";
import { EmptyState } from "../ui/note";
import { Toasts } from "../ui/toast";
import { Banner } from "./banner";
import { Boundary } from "./boundary";
import { Header } from "./header";
import { lazy } from "./lazy";
import { go, Link, page, place } from "./navigation";
import { type Page, pathOf } from "./route";
import { SignIn } from "./signin";
import "./app.css";

export type PageProps<Name extends Page["name"]> = Extract<Page, { name: Name }>;

const Projects = lazy(() => import("../pages/projects").then((module) => module.ProjectsPage));
const Workspace = lazy<PageProps<"workspace">>(() =>
  import("../pages/workspace").then((module) => module.WorkspacePage),
);
const View = lazy<PageProps<"view">>(() =>
  import("../pages/workspace/saved-view").then((module) => module.SavedViewPage),
);
const Run = lazy<PageProps<"run">>(() => import("../pages/run").then((module) => module.RunPage));
const Compare = lazy<PageProps<"compare">>(() =>
  import("../pages/compare").then((module) => module.ComparePage),
);
const Benchmarks = lazy(() => import("../pages/benchmarks").then((module) => module.BenchmarksPage));
const Settings = lazy<PageProps<"settings">>(() =>
  import("../pages/settings").then((module) => module.SettingsPage),
);

export function App(): JSX.Element {
  useEffect(
    () =>
      effect(() => {
        if (!needsSignIn.value || page.value.name === "signin") return;
        needsSignIn.value = false;
        const { path, search } = place.peek();
        go({ name: "signin" }, { replace: true, search: `?next=${encodeURIComponent(path + search)}` });
      }),
    [],
  );
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Banner />
      <Header />
      <div id="main" class="app-page" tabIndex={-1}>
        <Boundary key={keyOf(page.value)}>
          <Shown at={page.value} />
        </Boundary>
      </div>
      <Palette />
      <Sheet />
      <Toasts />
    </>
  );
}

/** A page of another project or run is another page: nothing of the one before stays. Tabs are the same page. */
function keyOf(at: Page): string {
  return pathOf("tab" in at ? { ...at, tab: "" } : at);
}

function Shown({ at }: { at: Page }): JSX.Element {
  switch (at.name) {
    case "projects":
      return <Projects />;
    case "signin":
      return <SignIn />;
    case "workspace":
      return <Workspace {...at} />;
    case "view":
      return <View {...at} />;
    case "compare":
      return <Compare {...at} />;
    case "run":
      return <Run {...at} />;
    case "benchmarks":
      return <Benchmarks />;
    case "settings":
      return <Settings {...at} />;
    case "missing":
      return (
        <main class="page">
          <EmptyState title="There is no such page" icon="search">
            <p>
              Nothing is at <code>{at.path}</code>. <Link to={{ name: "projects" }}>See all projects</Link>
            </p>
          </EmptyState>
        </main>
      );
  }
}
