// The short address of a saved view: it leads to the workspace as the view has it now.

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { PageProps } from "../../app/app";
import { go, Link } from "../../app/navigation";
import { useAnswer } from "../../server/answer";
import { isMissing, place } from "../../server/client";
import type { SavedView } from "../../server/types";
import { EmptyState, ErrorNote } from "../../ui/note";

/** What a saved view holds: its text in the address of the workspace, which knows its own version. */
export function searchOf(view: SavedView): string {
  return String((view.document as { search?: unknown }).search ?? "");
}

export function SavedViewPage({ entity, project, view }: PageProps<"view">): JSX.Element {
  const workspace = { name: "workspace", entity, project } as const;
  const { value, problem, reload } = useAnswer<SavedView>(place("projects", entity, project, "views", view));
  useEffect(() => {
    const text = value && searchOf(value);
    if (text !== undefined) go(workspace, { replace: true, search: text && `?${text}` });
  }, [value]);
  if (isMissing(problem)) {
    return (
      <main class="page">
        <EmptyState title={`There is no view ${view}`} icon="search">
          <p>
            It was deleted or has another name, or you may not see the project.{" "}
            <Link to={workspace}>
              Go to {entity}/{project}
            </Link>
          </p>
        </EmptyState>
      </main>
    );
  }
  return <main class="page">{problem && <ErrorNote error={problem} onRetry={reload} />}</main>;
}
