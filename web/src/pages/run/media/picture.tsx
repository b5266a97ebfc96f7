// A picture with what was marked on it: boxes as lines, masks as colours over it.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { COLOURS } from "../../../series/palette";
import { useRun } from "../model";
import type { MaskLayer, MediaItem } from "./records";

export type ImageItem = Extract<MediaItem, { kind: "image" }>;

const colourOf = (id: number): string => COLOURS[Math.abs(id) % COLOURS.length] as string;

export function Picture({ item, hasMarks }: { item: ImageItem; hasMarks: boolean }): JSX.Element {
  const model = useRun();
  const boxes = item.layers.flatMap((layer) => layer.boxes);
  return (
    <div class="picture" style={item.width > 0 ? { "--ratio": item.width / item.height } : {}}>
      <img
        src={model.fileAddress(item.path)}
        alt={item.caption || item.path.slice(item.path.lastIndexOf("/") + 1)}
        loading="lazy"
        decoding="async"
        class={item.width < 96 ? "picture-small" : ""}
      />
      {hasMarks && item.masks.map((mask) => <Mask key={mask.name} mask={mask} />)}
      {hasMarks && boxes.length > 0 && (
        <svg class="picture-boxes" viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true">
          {boxes.map((box, index) => (
            <rect
              key={index}
              x={box.x * 1000}
              y={box.y * 1000}
              width={box.width * 1000}
              height={box.height * 1000}
              stroke={colourOf(box.classId ?? 0)}
            />
          ))}
        </svg>
      )}
      {hasMarks &&
        boxes.map(
          (box, index) =>
            box.label && (
              <span
                key={index}
                class="picture-label"
                style={{
                  left: `${box.x * 100}%`,
                  top: `${box.y * 100}%`,
                  borderColor: colourOf(box.classId ?? 0),
                }}
              >
                {box.label}
              </span>
            ),
        )}
    </div>
  );
}

/** A mask's pixels are ids of classes; each gets the colour of its id, 0 none. */
function Mask({ mask }: { mask: MaskLayer }): JSX.Element {
  const model = useRun();
  const canvas = useRef<HTMLCanvasElement>(null);
  const source = model.fileAddress(mask.path);
  useEffect(() => {
    const picture = new Image();
    let isGone = false;
    picture.onload = () => {
      if (!isGone && canvas.current !== null) paint(canvas.current, picture);
    };
    picture.src = source;
    return () => {
      isGone = true;
    };
  }, [source]);
  const names = Object.values(mask.labels).join(", ");
  return <canvas ref={canvas} class="picture-mask" title={names ? `${mask.name}: ${names}` : mask.name} />;
}

function paint(canvas: HTMLCanvasElement, picture: HTMLImageElement): void {
  canvas.width = picture.naturalWidth;
  canvas.height = picture.naturalHeight;
  const context = canvas.getContext("2d");
  if (context === null || canvas.width === 0) return;
  context.drawImage(picture, 0, 0);
  const image = context.getImageData(0, 0, canvas.width, canvas.height);
  const { data } = image;
  for (let i = 0; i < data.length; i += 4) {
    const id = data[i] as number;
    const colour = Number.parseInt(colourOf(id).slice(1), 16);
    data[i] = colour >> 16;
    data[i + 1] = (colour >> 8) & 255;
    data[i + 2] = colour & 255;
    data[i + 3] = id === 0 ? 0 : 140;
  }
  context.putImageData(image, 0, 0);
}
