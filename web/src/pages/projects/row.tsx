// One project: its name, what was begun in the last weeks, how many runs, and when something last happened.

import type { JSX } from "preact";
import { Link } from "../../app/navigation";
import { count, counted, dateTime, relativeTime } from "../../series/format";
import type { ProjectOverview } from "../../server/types";
import { Icon } from "../../ui/icon";
import { Badge } from "../../ui/note";
import { Sparkline } from "../../ui/sparkline";

export function ProjectRow({ project, now }: { project: ProjectOverview; now: number }): JSX.Element {
  const { entity, name, description, activity, num_running: running } = project;
  const activeMs = project.active_ns / 1e6;
  const begun = activity.reduce((sum, some) => sum + some, 0);
  return (
    <li class="project">
      <span class="project-name">
        <Link
          to={{ name: "workspace", entity, project: name }}
          class="project-link"
          title={`${entity}/${name}`}
        >
          <span class="quiet">{entity} / </span>
          <strong>{name}</strong>
        </Link>
        {project.access === "private" && (
          <span class="project-access" title="Private">
            <Icon name="lock" size={14} />
            <span class="unseen">private</span>
          </span>
        )}
        {project.access === "public" && <Badge>public</Badge>}
        {description && <span class="project-description quiet cut">{description}</span>}
      </span>
      <span class="project-activity">
        <Sparkline
          kind="bars"
          values={activity}
          width={140}
          title={`${counted(begun, "run")} begun in the last 4 weeks`}
        />
      </span>
      <span class="project-number">
        {running > 0 && (
          <Badge tone="good" title={`${counted(running, "run")} running`}>
            {count(running)} live
          </Badge>
        )}
        <span>
          {count(project.num_runs)}
          <span class="project-unit"> {project.num_runs === 1 ? "run" : "runs"}</span>
        </span>
      </span>
      <time class="project-time quiet" dateTime={new Date(activeMs).toISOString()} title={dateTime(activeMs)}>
        {relativeTime(activeMs, now)}
      </time>
    </li>
  );
}
