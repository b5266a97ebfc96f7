// The one sheet of pixels that all charts paint on in turn, and the canvas from which it is laid onto theirs.

import { type Ink, Sheet } from "./sheet";

let sheet: Sheet | null = null;
let kept: CanvasRenderingContext2D | null = null;
const inks = new Map<string, Ink>();

/** Never on a graphics card: pixels are written, and read back. */
function readable(): CanvasRenderingContext2D {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (context === null) throw new Error("this browser has no canvas");
  return context;
}

/** Return a sheet with nothing on it, of this size or larger; it must be laid before another is asked for. */
export function cleanSheet(width: number, height: number): Sheet {
  kept ??= readable();
  const { canvas } = kept;
  if (sheet !== null && canvas.width >= width && canvas.height >= height) sheet.clear();
  else {
    canvas.width = Math.max(width, canvas.width);
    canvas.height = Math.max(height, canvas.height);
    sheet = new Sheet(new ImageData(canvas.width, canvas.height));
  }
  return sheet;
}

export function layOn(context: CanvasRenderingContext2D, { image }: Sheet, left: number, top: number): void {
  kept ??= readable();
  kept.putImageData(image, 0, 0);
  context.drawImage(kept.canvas, left, top);
}

/** Return a colour, however it is written, as the bytes that a canvas has for it. */
export function inkOf(colour: string, alpha: number): Ink {
  let ink = inks.get(colour);
  if (ink === undefined) {
    const dot = readable();
    dot.fillStyle = colour;
    dot.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, seen = 255] = dot.getImageData(0, 0, 1, 1).data;
    ink = { red, green, blue, alpha: seen / 255 };
    inks.set(colour, ink);
  }
  return { ...ink, alpha: ink.alpha * alpha };
}
