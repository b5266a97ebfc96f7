// An SVG of the page as a file that stands for itself: what style sheets and variables said is written into it.

const STYLED = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "opacity",
  "font-size",
  "font-weight",
  "text-anchor",
  "paint-order",
] as const;
const PLAIN: Readonly<Record<string, string>> = {
  "fill-opacity": "1",
  stroke: "none",
  "stroke-width": "1px",
  "stroke-opacity": "1",
  "stroke-dasharray": "none",
  opacity: "1",
  "font-weight": "400",
  "text-anchor": "start",
  "paint-order": "normal",
};
const UNWANTED = /^(class|style|role|tabindex|aria-.*|data-.*)$/;
/** Empty space around the drawing, in pixels. */
const MARGIN = 8;

/** Return the text of an SVG file that looks as the element does now. */
export function svgText(svg: SVGSVGElement, title: string): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const shown = [svg, ...svg.querySelectorAll<SVGElement>("*")];
  const copies = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  copies.forEach((element, i) => {
    const style = getComputedStyle(shown[i] as SVGElement);
    for (const { name } of [...element.attributes]) if (UNWANTED.test(name)) element.removeAttribute(name);
    if (element === copy || element.tagName === "g" || element.tagName === "title") return;
    for (const name of STYLED) {
      const value = style.getPropertyValue(name);
      if (value && value !== PLAIN[name]) element.setAttribute(name, value);
    }
    const isClear = style.fill === "rgba(0, 0, 0, 0)" || style.fill === "transparent";
    if (element.tagName === "rect" && isClear && style.stroke === "none") element.remove();
  });
  const { width, height } = sizeOf(svg);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", `${-MARGIN} ${-MARGIN} ${width} ${height}`);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.setAttribute("font-family", "system-ui, sans-serif");
  copy.prepend(element("title", {}, title), background(svg, width, height));
  return `${new XMLSerializer().serializeToString(copy)}\n`;
}

/** Return the same as a PNG. */
export async function pngBlob(svg: SVGSVGElement, title: string, ratio = 2): Promise<Blob> {
  const { width, height } = sizeOf(svg);
  const url = URL.createObjectURL(new Blob([svgText(svg, title)], { type: "image/svg+xml" }));
  try {
    const image = new Image(width, height);
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => {
        if (blob === null)
          reject(new Error(`This browser cannot draw ${canvas.width} × ${canvas.height} pixels.`));
        else resolve(blob);
      }, "image/png");
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}

function sizeOf(svg: SVGSVGElement): { width: number; height: number } {
  const { width, height } = svg.getBoundingClientRect();
  return { width: Math.ceil(width) + 2 * MARGIN, height: Math.ceil(height) + 2 * MARGIN };
}

function background(svg: SVGSVGElement, width: number, height: number): SVGElement {
  let at: Element | null = svg;
  let fill = "rgba(0, 0, 0, 0)";
  while (at !== null && fill === "rgba(0, 0, 0, 0)") {
    fill = getComputedStyle(at).backgroundColor;
    at = at.parentElement;
  }
  const box = { x: -MARGIN, y: -MARGIN, width, height };
  return element("rect", { ...box, fill: fill === "rgba(0, 0, 0, 0)" ? "#ffffff" : fill });
}

function element(name: string, attributes: Readonly<Record<string, unknown>>, text = ""): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.textContent = text;
  return made;
}
