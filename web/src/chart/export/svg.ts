// A panel as a small SVG: paths in tenths of a pixel, text as text, no script and no style sheet, so that it prints,
// opens in drawing programs and passes through sanitizers.

import { drawFigure, FIGURE_STYLE, type FigureSpec, type FigureStyle } from "../figure";
import { PathText, tenths } from "../path-text";
import type { Box, PathStyle, Surface, TextStyle } from "../surface";
import type { Pen } from "../trace";

/** Return the SVG document of a panel. */
export function svgOf(spec: FigureSpec, style: Partial<FigureStyle> = {}): string {
  const full = { ...FIGURE_STYLE, ...style, ratio: 1 };
  const surface = new SvgSurface();
  drawFigure(surface, spec, full);
  const { width, height } = full;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="${escapeXml(full.theme.font)}" role="img">` +
    `<title>${escapeXml(spec.title)}</title>${surface.body.join("")}</svg>\n`
  );
}

export class SvgSurface implements Surface {
  readonly body: string[] = [];

  path(style: PathStyle, trace: (pen: Pen) => void): void {
    const pen = new PathText();
    trace(pen);
    if (pen.text !== "") this.body.push(`<path d="${pen.text}"${paint(style)}/>`);
  }

  disc(style: PathStyle, x: number, y: number, radius: number): void {
    this.body.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(radius)}"${paint(style)}/>`);
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    const { colour, size, bold, anchor = "start", baseline = "middle", upward } = style;
    // moved by hand: programs that draw SVG disagree about dominant-baseline
    const by = baseline === "top" ? 0.8 : baseline === "middle" ? 0.35 : 0;
    const place = upward
      ? `transform="translate(${short(x + by * size)} ${short(y)}) rotate(-90)"`
      : `x="${short(x)}" y="${short(y + by * size)}"`;
    const weight = bold ? ' font-weight="600"' : "";
    const anchored = anchor === "start" ? "" : ` text-anchor="${anchor}"`;
    this.body.push(
      `<text ${place} font-size="${short(size)}"${weight}${anchored}${colourOf("fill", colour)}>${escapeXml(text)}</text>`,
    );
  }

  within({ left, top, width, height }: Box, draw: () => void): void {
    // the same name only for the same box, so that many drawings may stand in one page
    const id = `plot-${[left, top, width, height].map(tenths).join("-")}`;
    const box = `x="${short(left)}" y="${short(top)}" width="${short(width)}" height="${short(height)}"`;
    this.body.push(`<clipPath id="${id}"><rect ${box}/></clipPath><g clip-path="url(#${id})">`);
    draw();
    this.body.push("</g>");
  }

  /** There is no font to measure here: an average letter of a sans is about this wide. */
  widthOf(text: string, size: number): number {
    return text.length * size * 0.58;
  }
}

function short(value: number): string {
  return String(tenths(value) / 10);
}

function paint({ stroke, fill, width = 1, dash = [], alpha = 1, isCrowded }: PathStyle): string {
  let text = fill === undefined ? ' fill="none"' : colourOf("fill", fill);
  if (stroke !== undefined) {
    text += `${colourOf("stroke", stroke)} stroke-width="${short(width)}" stroke-linejoin="round"`;
    if (dash.length > 0) text += ` stroke-dasharray="${dash.map(short).join(" ")}"`;
    else if (!isCrowded) text += ' stroke-linecap="round"';
  }
  return alpha === 1 ? text : `${text} opacity="${alpha}"`;
}

/** Colours with an alpha part are not SVG 1.1: the alpha goes into its own attribute. */
function colourOf(attribute: "fill" | "stroke", colour: string): string {
  const alpha = /^rgba\(([^)]*),\s*([\d.]+)\)$/.exec(colour);
  if (alpha === null) return ` ${attribute}="${escapeXml(colour)}"`;
  return ` ${attribute}="rgb(${alpha[1]})" ${attribute}-opacity="${alpha[2]}"`;
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
