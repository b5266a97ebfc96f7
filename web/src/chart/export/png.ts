// A panel as a PNG: drawn anew at the size asked for, never a picture of the screen.

import { drawFigure, FIGURE_STYLE, type FigureSpec, type FigureStyle } from "../figure";
import { CanvasSurface } from "../surface";

/** Return the PNG of a panel; `ratio` 2 is for good screens, 4 and more for print. */
export async function pngOf(spec: FigureSpec, style: Partial<FigureStyle> = {}): Promise<Blob> {
  const full = { ...FIGURE_STYLE, ratio: 2, ...style };
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(full.width * full.ratio);
  canvas.height = Math.round(full.height * full.ratio);
  const context = canvas.getContext("2d");
  if (context === null) throw new Error(tooLarge(canvas));
  drawFigure(new CanvasSurface(context, full.theme.font), spec, full);
  return await new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error(tooLarge(canvas))) : resolve(blob)),
      "image/png",
    );
  });
}

function tooLarge({ width, height }: HTMLCanvasElement): string {
  return `This browser cannot draw a picture of ${width} × ${height} pixels. Choose a smaller size or scale.`;
}
