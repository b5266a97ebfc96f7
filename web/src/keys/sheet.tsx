// `?`: the keys that work on this page, by group; made from the registry, so it is complete.

import { signal } from "@preact/signals";
import { Fragment, type JSX } from "preact";
import { Dialog } from "../ui/dialog";
import { type Command, commands, isPossible, keysOf } from "./commands";
import { Keys } from "./keys";
import "./palette.css";

export const isSheetOpen = signal(false);

export function Sheet(): JSX.Element | null {
  if (!isSheetOpen.value) return null;
  const groups = new Map<string, Command[]>();
  for (const command of commands.value) {
    if (keysOf(command).length === 0 || !(isPossible(command) || command.needs)) continue;
    groups.set(command.group, [...(groups.get(command.group) ?? []), command]);
  }
  return (
    <Dialog
      title="Keys"
      onClose={() => {
        isSheetOpen.value = false;
      }}
    >
      <div class="dialog-body sheet">
        {[...groups].map(([group, some]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {some.map((command) => (
                <div key={command.id} class="sheet-row">
                  <dt>
                    {command.title}
                    {command.needs && <span class="sheet-needs">{command.needs}</span>}
                  </dt>
                  <dd>
                    {keysOf(command).map((keys, index) => (
                      <Fragment key={keys}>
                        {index > 0 && <span class="quiet"> or </span>}
                        <Keys keys={keys} />
                      </Fragment>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
