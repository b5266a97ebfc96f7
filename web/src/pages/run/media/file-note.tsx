// A file that is offered as a download, and why it is not (wholly) shown.

import type { JSX } from "preact";
import { bytes } from "../../../series/format";
import { Icon } from "../../../ui/icon";
import { useRun } from "../model";

export interface FileNoteProps {
  path: string;
  size: number | null;
  what: string;
  why: string;
}

export function FileNote({ path, size, what, why }: FileNoteProps): JSX.Element {
  const model = useRun();
  return (
    <div class="media-file">
      <Icon name="file" size={20} />
      <span>
        {what}
        <span class="quiet">
          {size !== null && ` ${bytes(size)}`}
          {why && `, ${why}`}
        </span>
      </span>
      <a class="button" href={model.fileAddress(path, "?download=true")} download>
        <Icon name="download" />
        Download
      </a>
    </div>
  );
}
