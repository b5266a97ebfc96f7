// A file as far as it can be looked at: pictures, sound, pages in a sandbox, and the first part of any text.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { bytes, count } from "../../../series/format";
import { send } from "../../../server/client";
import { Button } from "../../../ui/button";
import { Icon } from "../../../ui/icon";
import { CopyButton, ErrorNote } from "../../../ui/note";
import { SCROLLS } from "../scrolls";
import { previewKind } from "./paths";
import "./files.css";

const FIRST = 256 * 1024;

export interface PreviewProps {
  path: string;
  size: number;
  /** Where its content is, and where it is as a download. */
  address: string;
  download: string;
}

export function Preview({ path, size, address, download }: PreviewProps): JSX.Element {
  const kind = previewKind(path);
  const name = path.slice(path.lastIndexOf("/") + 1);
  return (
    <section class="card preview" aria-label={`File ${name}`}>
      <div class="card-head">
        <h2 class="cut" title={path}>
          {name}
        </h2>
        <span class="quiet">{bytes(size)}</span>
        <div class="card-end">
          <CopyButton text={path} label="Copy the path of the file" />
          <a class="button" href={download} download={name}>
            <Icon name="download" />
            Download
          </a>
        </div>
      </div>
      <div class="preview-body">
        {kind === "image" && <img class="preview-image" src={address} alt={name} />}
        {/* biome-ignore lint/a11y/useMediaCaption: a file has none */}
        {kind === "audio" && <audio controls preload="metadata" src={address} aria-label={name} />}
        {/* biome-ignore lint/a11y/useMediaCaption: a file has none */}
        {kind === "video" && <video controls preload="metadata" src={address} aria-label={name} />}
        {kind === "html" && (
          <iframe class="preview-html" sandbox="allow-scripts" src={address} title={name} />
        )}
        {kind === "binary" && (
          <p class="quiet">This kind of file cannot be shown here. Download it to look into it.</p>
        )}
        {kind === "text" && <TextPart key={address} address={address} size={size} />}
      </div>
    </section>
  );
}

/** The beginning of a text; more of it piece by piece, so that a log of gigabytes can be looked into. */
function TextPart({ address, size }: { address: string; size: number }): JSX.Element {
  const [text, setText] = useState<string | null>(null);
  const [until, setUntil] = useState(FIRST);
  const [problem, setProblem] = useState<Error | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    const headers: Record<string, string> = size > until ? { Range: `bytes=0-${until - 1}` } : {};
    (size === 0
      ? Promise.resolve(new ArrayBuffer(0))
      : send("GET", address, { headers, abort: abort.signal }).then((answer) => answer.arrayBuffer())
    )
      .then((body) => {
        if (abort.signal.aborted) return;
        setText(isBinary(new Uint8Array(body)) ? null : new TextDecoder().decode(body));
        setProblem(
          isBinary(new Uint8Array(body)) ? new Error("This is no text. Download it to look into it.") : null,
        );
      })
      .catch((error: Error) => !abort.signal.aborted && setProblem(error));
    return () => abort.abort();
  }, [address, size, until]);
  if (problem) return <ErrorNote error={problem} />;
  if (text === null) return <p class="quiet">Loading…</p>;
  if (size === 0) return <p class="quiet">The file is empty.</p>;
  return (
    <>
      <pre class="preview-text" {...SCROLLS}>
        {text}
      </pre>
      {size > until && (
        <p>
          Showing the first {bytes(until)} of {bytes(size)}.{" "}
          <Button kind="quiet" onClick={() => setUntil(until * 4)}>
            Show more
          </Button>
        </p>
      )}
      {text.length > 0 && size <= until && (
        <p class="quiet">{count(text.split("\n").length - (text.endsWith("\n") ? 1 : 0))} lines</p>
      )}
    </>
  );
}

function isBinary(content: Uint8Array): boolean {
  return content.subarray(0, 4096).includes(0);
}
