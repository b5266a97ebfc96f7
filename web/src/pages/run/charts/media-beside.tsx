// Whether media stand below the charts. What shows them is fetched only by those who ask for it.

import type { JSX } from "preact";
import { lazy } from "../../../app/lazy";
import { Button } from "../../../ui/button";
import { useMediaKeys } from "../media/use-media";
import { useParam } from "../params";
import type { MediaStripProps } from "./media-strip";
import type { RunWorkspace } from "./run-workspace";

const MediaStrip = lazy<MediaStripProps>(() => import("./media-strip").then((module) => module.MediaStrip));

/** Shows and hides media; not there where none were logged. */
export function MediaToggle(): JSX.Element | null {
  const { keys } = useMediaKeys();
  const [shown, setShown] = useParam("media");
  if (!keys?.length) return null;
  return (
    <Button icon="eye" pressed={shown === "1"} onClick={() => setShown(shown === "1" ? "" : "1")}>
      Media
    </Button>
  );
}

export function MediaBeside({ workspace }: { workspace: RunWorkspace }): JSX.Element | null {
  const [shown] = useParam("media");
  const { keys } = useMediaKeys();
  if (shown !== "1" || !keys?.length) return null;
  return <MediaStrip workspace={workspace} names={keys.map((one) => one.key)} />;
}
