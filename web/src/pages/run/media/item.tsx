// One thing that was logged, in the form that suits its kind.

import type { JSX } from "preact";
import { bytes } from "../../../series/format";
import { Icon } from "../../../ui/icon";
import { useRun } from "../model";
import { SCROLLS } from "../scrolls";
import { Histogram } from "./histogram";
import { Picture } from "./picture";
import type { MediaItem } from "./records";
import "./media.css";

export interface ItemProps {
  item: MediaItem;
  title: string;
  hasMarks: boolean;
}

export function Item({ item, title, hasMarks }: ItemProps): JSX.Element {
  const model = useRun();
  switch (item.kind) {
    case "image":
      return <Picture item={item} hasMarks={hasMarks} />;
    case "audio":
      return (
        // biome-ignore lint/a11y/useMediaCaption: what was logged has none
        <audio
          class="media-audio"
          controls
          preload="none"
          src={model.fileAddress(item.path)}
          aria-label={title}
        />
      );
    case "video":
      return item.format === "gif" || item.path.endsWith(".gif") ? (
        <img
          class="media-video"
          src={model.fileAddress(item.path)}
          alt={item.caption || title}
          loading="lazy"
        />
      ) : (
        // biome-ignore lint/a11y/useMediaCaption: what was logged has none
        <video
          class="media-video"
          controls
          preload="metadata"
          src={model.fileAddress(item.path)}
          aria-label={title}
        />
      );
    case "html":
      // The server makes it a page of no origin; the sandbox says the same.
      return (
        <iframe
          class="media-html"
          sandbox="allow-scripts"
          src={model.fileAddress(item.path)}
          title={title}
          loading="lazy"
        />
      );
    case "text":
      return (
        <pre class="media-text" {...SCROLLS}>
          {item.text}
        </pre>
      );
    case "histogram":
      return <Histogram bins={item.bins} title={title} />;
    case "file":
      return (
        <div class="media-file">
          <Icon name="file" size={20} />
          <span>
            {item.what}
            {item.size !== null && <span class="quiet"> {bytes(item.size)}</span>}
          </span>
          <a class="button" href={model.fileAddress(item.path, "?download=true")} download>
            <Icon name="download" />
            Download
          </a>
        </div>
      );
  }
}
