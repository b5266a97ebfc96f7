// One thing that was logged, in the form that suits its kind.

import type { JSX } from "preact";
import { useRun } from "../model";
import { SCROLLS } from "../scrolls";
import { FileNote } from "./file-note";
import { Histogram } from "./histogram";
import { Picture } from "./picture";
import { PlotlyItem } from "./plotly-figure";
import type { MediaItem } from "./records";
import { SceneItem } from "./scene-view";
import "./media.css";

export interface ItemProps {
  item: MediaItem;
  title: string;
  hasMarks: boolean;
}

/** Few pixels are meant to be seen. */
const FEW_PIXELS = 128;

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
          onLoad={({ currentTarget }) =>
            currentTarget.classList.toggle("picture-small", currentTarget.naturalWidth <= FEW_PIXELS)
          }
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
    case "plotly":
      return <PlotlyItem path={item.path} size={item.size} />;
    case "scene":
      return <SceneItem path={item.path} size={item.size} what={item.what} />;
    case "file":
      return <FileNote path={item.path} size={item.size} what={item.what} why={cannot(item.path)} />;
  }
}

/** Why a file is not shown: by its ending. */
function cannot(path: string): string {
  const ending = path.slice(path.lastIndexOf(".") + 1);
  return `files of the kind ${ending} cannot be drawn here`;
}
