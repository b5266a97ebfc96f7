import type { JSX } from "preact";
import type { PageProps } from "../../app/app";

export function WorkspacePage({ entity, project }: PageProps<"workspace">): JSX.Element {
  return (
    <main class="page">
      <h1>
        {entity}/{project}
      </h1>
    </main>
  );
}
