// One item over the whole window: left and right go through the items of a key, [ and ] through its steps.

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { count } from "../../../series/format";
import { Button, IconButton } from "../../../ui/button";
import { Dialog } from "../../../ui/dialog";
import { Icon } from "../../../ui/icon";
import { useRun } from "../model";
import { Item } from "./item";
import type { MediaItem } from "./records";

export interface ViewerProps {
  title: string;
  items: readonly MediaItem[];
  index: number;
  step: number | null;
  hasMarks: boolean;
  onIndex: (index: number) => void;
  onStep: (direction: 1 | -1) => void;
  onClose: () => void;
}

export function Viewer(props: ViewerProps): JSX.Element | null {
  const { title, items, index, step, onIndex, onStep, onClose } = props;
  const model = useRun();
  const item = items[Math.min(index, items.length - 1)];
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const away = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
      if (away !== 0) onIndex((index + away + items.length) % items.length);
      else if (event.key === "[") onStep(-1);
      else if (event.key === "]") onStep(1);
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [index, items.length, onIndex, onStep]);
  if (item === undefined) return null;
  const path = "path" in item ? item.path : null;
  return (
    <Dialog
      title={`${title}${step === null ? "" : `, step ${count(step)}`}`}
      onClose={onClose}
      class="viewer"
    >
      <div class={`viewer-body viewer-${item.kind}`}>
        <Item item={item} title={title} hasMarks={props.hasMarks} />
      </div>
      <footer class="viewer-foot">
        <div class="viewer-moves">
          <Button onClick={() => onStep(-1)} title="Step before ([)">
            Step −
          </Button>
          <Button onClick={() => onStep(1)} title="Next step (])">
            Step +
          </Button>
        </div>
        <span class="viewer-caption cut" title={item.caption}>
          {item.caption}
        </span>
        {items.length > 1 && (
          <div class="viewer-moves">
            <IconButton
              icon="back"
              label="Previous (←)"
              onClick={() => onIndex((index + items.length - 1) % items.length)}
            />
            <span>
              {count(index + 1)} of {count(items.length)}
            </span>
            <IconButton
              icon="chevronRight"
              label="Next (→)"
              onClick={() => onIndex((index + 1) % items.length)}
            />
          </div>
        )}
        {path && (
          <a class="button" href={model.fileAddress(path, "?download=true")} download>
            <Icon name="download" />
            Download
          </a>
        )}
      </footer>
    </Dialog>
  );
}
