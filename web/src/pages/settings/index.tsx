import type { JSX } from "preact";
import type { PageProps } from "../../app/app";

export function SettingsPage(_: PageProps<"settings">): JSX.Element {
  return (
    <main class="page">
      <h1>Settings</h1>
    </main>
  );
}
