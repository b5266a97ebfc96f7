import type { JSX } from "preact";
import type { PageProps } from "../../app/app";

export function ComparePage({ entity, project }: PageProps<"compare">): JSX.Element {
  return (
    <main class="page">
      <h1>
        {entity}/{project}
      </h1>
    </main>
  );
}
