// Who may see a project, what it is, how long and how much it keeps.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Link } from "../../app/navigation";
import { bytes, counted } from "../../series/format";
import { patch, place, returns } from "../../server/client";
import { readProjects } from "../../server/projects";
import type { Access, ProjectOverview } from "../../server/types";
import { Button } from "../../ui/button";
import { Select, TextField } from "../../ui/field";
import { Badge, EmptyState, ErrorNote } from "../../ui/note";
import { say } from "../../ui/toast";
import type { Identity } from "./documents";
import { Form } from "./form";
import { mayChange, readBytes, readDays } from "./rights";

const ACCESSES: readonly { value: Access; title: string }[] = [
  { value: "private", title: "Private: its user or team" },
  { value: "team", title: "Team: everybody with an account reads" },
  { value: "public", title: "Public: everybody reads, without a key" },
];

export function ProjectAccess({ identity }: { identity: Identity }): JSX.Element {
  const [projects, setProjects] = useState<ProjectOverview[] | null>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  const [round, setRound] = useState(0);
  const [search, setSearch] = useState("");
  const [edited, setEdited] = useState<ProjectOverview | null>(null);
  const back = returns.value;
  useEffect(() => {
    const abort = new AbortController();
    readProjects(abort.signal).then(
      setProjects,
      (error: Error) => !abort.signal.aborted && setProblem(error),
    );
    return () => abort.abort();
  }, [round, back]);
  if (problem) return <ErrorNote error={problem} onRetry={() => setRound(round + 1)} />;
  if (projects === null) return <div aria-busy="true" />;
  if (projects.length === 0) return <EmptyState title="There is no project yet" icon="folder" />;
  const wanted = search.trim().toLowerCase();
  const shown = projects.filter((one) => `${one.entity}/${one.name}`.toLowerCase().includes(wanted));
  return (
    <section class="settings-part" aria-label="Projects">
      <div class="settings-tools">
        <TextField
          type="search"
          icon="search"
          label="Search projects"
          placeholder="Search projects"
          value={search}
          onInput={setSearch}
        />
        <span class="quiet">
          {wanted
            ? `${shown.length} of ${counted(projects.length, "project")}`
            : counted(projects.length, "project")}
        </span>
      </div>
      <div class="settings-table">
        <table>
          <thead>
            <tr>
              <th scope="col">Project</th>
              <th scope="col">Access</th>
              <th scope="col">Keeps</th>
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => (
              <tr key={`${one.entity}/${one.name}`}>
                <th scope="row">
                  <Link to={{ name: "workspace", entity: one.entity, project: one.name }}>
                    {one.entity}/{one.name}
                  </Link>
                  {one.description && <div class="quiet settings-words">{one.description}</div>}
                </th>
                <td data-name="Access">
                  <Badge tone={one.access === "public" ? "warn" : "plain"}>{one.access}</Badge>
                </td>
                <td data-name="Keeps">
                  {one.retention_days === null ? "for good" : counted(one.retention_days, "day")}
                  {one.quota_bytes !== null && `, ${bytes(one.quota_bytes)} at most`}
                </td>
                <td class="settings-actions">
                  {mayChange(identity, one.entity) !== "nothing" && (
                    <Button
                      kind="quiet"
                      aria-label={`Edit ${one.entity}/${one.name}`}
                      onClick={() => setEdited(one)}
                    >
                      Edit
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {edited && (
        <EditProject
          project={edited}
          isOurs={mayChange(identity, edited.entity) === "all"}
          onSaved={() => {
            setEdited(null);
            setRound(round + 1);
          }}
          onClose={() => setEdited(null)}
        />
      )}
    </section>
  );
}

interface EditProjectProps {
  readonly project: ProjectOverview;
  /** Whether one decides about it, and not only writes to it. */
  readonly isOurs: boolean;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

function EditProject({ project, isOurs, onSaved, onClose }: EditProjectProps): JSX.Element {
  const [description, setDescription] = useState(project.description);
  const [access, setAccess] = useState(project.access);
  const [days, setDays] = useState(project.retention_days === null ? "" : String(project.retention_days));
  const [quota, setQuota] = useState(project.quota_bytes === null ? "" : bytes(project.quota_bytes));
  const [daysRead, quotaRead] = [readDays(days), readBytes(quota)];
  // A quota that was not touched is left as it is: its text is rounded.
  const isQuotaNew = quota !== (project.quota_bytes === null ? "" : bytes(project.quota_bytes));
  const saveIt = async (): Promise<void> => {
    const body = {
      ...(description !== project.description && { description }),
      ...(access !== project.access && { access }),
      ...(daysRead !== project.retention_days && { retention_days: daysRead }),
      ...(isQuotaNew && { quota_bytes: quotaRead }),
    };
    await patch<ProjectOverview>(place("projects", project.entity, project.name), body);
    say(`${project.entity}/${project.name} was changed`, { tone: "good" });
    onSaved();
  };
  return (
    <Form
      title={`${project.entity}/${project.name}`}
      action="Save"
      isBlocked={daysRead === undefined || quotaRead === undefined}
      onDo={saveIt}
      onClose={onClose}
    >
      <TextField label="Description" isLabelShown autofocus value={description} onInput={setDescription} />
      {isOurs ? (
        <>
          <Select label="Access" isLabelShown value={access} options={ACCESSES} onChange={setAccess} />
          <TextField
            label="Delete runs this many days after they ended"
            isLabelShown
            value={days}
            placeholder="Keep them for good"
            problem={daysRead === undefined ? "A whole number of days from 1 on, or nothing." : null}
            onInput={setDays}
          />
          <TextField
            label="Keep at most"
            isLabelShown
            value={quota}
            placeholder="As much as there is room for"
            problem={quotaRead === undefined ? "An amount such as 50 GiB or 500 MiB, or nothing." : null}
            onInput={setQuota}
          />
        </>
      ) : (
        <p class="quiet">Access, retention and quota are decided by owners, with a key of scope admin.</p>
      )}
    </Form>
  );
}
