// What pages of a project say if there is no such project.

import type { JSX } from "preact";
import { Button } from "../ui/button";
import { EmptyState } from "../ui/note";
import { Link } from "./navigation";

export interface NoProjectProps {
  readonly entity: string;
  readonly project: string;
  readonly onRetry: () => void;
}

export function NoProject({ entity, project, onRetry }: NoProjectProps): JSX.Element {
  return (
    <main class="page">
      <EmptyState title={`There is no project ${entity}/${project}`} icon="search">
        <p>
          It begins with its first run. Else it was deleted or has another name, or you may not see it.{" "}
          <Link to={{ name: "projects" }}>See all projects</Link>
        </p>
        <Button icon="reload" onClick={onRetry}>
          Try again
        </Button>
      </EmptyState>
    </main>
  );
}
