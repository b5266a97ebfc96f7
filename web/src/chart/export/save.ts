// Hands a file that was made in the page to the person. What makes them is loaded when the first one is wanted.

import type { FigureSpec, FigureStyle } from "../figure";

export type ExportKind = "png" | "svg" | "csv" | "json" | "py";

export const EXPORTS: readonly { readonly kind: ExportKind; readonly title: string }[] = [
  { kind: "png", title: "PNG picture" },
  { kind: "svg", title: "SVG drawing" },
  { kind: "csv", title: "CSV of the points" },
  { kind: "json", title: "JSON of the points" },
  { kind: "py", title: "matplotlib script" },
];

/** Return a panel as a file of a kind. */
export async function exportPanel(
  kind: ExportKind,
  spec: FigureSpec,
  style: Partial<FigureStyle> = {},
): Promise<Blob> {
  const { csvOf, jsonOf, matplotlibOf, pngOf, svgOf } = await import("./files");
  switch (kind) {
    case "png":
      return await pngOf(spec, style);
    case "svg":
      return new Blob([svgOf(spec, style)], { type: "image/svg+xml" });
    case "csv":
      return new Blob([csvOf(spec.lines, spec.xAxis, spec.yName ?? spec.title)], { type: "text/csv" });
    case "json":
      return new Blob([jsonOf(spec.lines, spec.xAxis, spec.yName ?? spec.title)], {
        type: "application/json",
      });
    case "py": {
      const options = {
        file: `${fileName(spec.title)}.pdf`,
        ...(style.theme === undefined ? {} : { colourOf: style.theme.colourOf }),
      };
      return new Blob([matplotlibOf(spec, options)], { type: "text/x-python" });
    }
  }
}

/** Put a PNG onto the clipboard; must be called while a click or a key is being handled. */
export async function copyPicture(draw: () => Promise<Blob>): Promise<void> {
  if (typeof ClipboardItem === "undefined" || navigator.clipboard === undefined) {
    throw new Error(
      "This page may not write to the clipboard: that needs https or localhost. Save the PNG instead.",
    );
  }
  // The promise itself is handed over: Safari forgets the click while waiting for the drawing.
  await navigator.clipboard.write([new ClipboardItem({ "image/png": draw() })]);
}

/** Return a name that every file system takes. */
export function fileName(title: string): string {
  return title.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|[-.]+$/g, "") || "chart";
}

/** Save a file as a download. */
export function save(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // the download has begun when the next task runs; some browsers need longer
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
