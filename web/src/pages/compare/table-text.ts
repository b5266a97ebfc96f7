// A table as CSV, Markdown or LaTeX. Pure.

export interface TextTable {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Columns with numbers are set flush right; the first never is. */
  readonly isNumeric?: boolean;
}

export const TABLE_KINDS = ["csv", "md", "tex"] as const;
export type TableKind = (typeof TABLE_KINDS)[number];

export function tableText(table: TextTable, kind: TableKind): string {
  return kind === "csv" ? csv(table) : kind === "md" ? markdown(table) : latex(table);
}

/** RFC 4180; what a spreadsheet would take for a formula is made plain, numbers stay numbers. */
function csv({ head, rows }: TextTable): string {
  return [head, ...rows].map((row) => `${row.map(csvField).join(",")}\r\n`).join("");
}

export function csvField(text: string): string {
  const isFormula = /^[=+\-@\t\r]/.test(text) && !/^[+-]?(\d|\.\d|inf$)/i.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function markdown({ head, rows, isNumeric = false }: TextTable): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(markdownCell).join(" | ")} |\n`;
  const rule = `|${head.map((_, i) => (isNumeric && i > 0 ? "---:" : "---")).join("|")}|\n`;
  return line(head) + rule + rows.map(line).join("");
}

function markdownCell(text: string): string {
  return text
    .replace(/[\\|`*_<>[\]]/g, "\\$&")
    .replace(/\r?\n/g, "<br>")
    .trim();
}

/** A booktabs table. */
function latex({ title, head, rows, isNumeric = false }: TextTable): string {
  const line = (cells: readonly string[]): string => `    ${cells.map(latexCell).join(" & ")} \\\\\n`;
  const columns = head.map((_, i) => (isNumeric && i > 0 ? "r" : "l")).join("");
  return (
    `% needs \\usepackage{booktabs}\n\\begin{table}\n  \\centering\n  \\caption{${latexCell(title)}}\n` +
    `  \\begin{tabular}{${columns}}\n    \\toprule\n${line(head)}    \\midrule\n${rows.map(line).join("")}` +
    "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n"
  );
}

const LATEX: Readonly<Record<string, string>> = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "<": "\\textless{}",
  ">": "\\textgreater{}",
  "|": "\\textbar{}",
  '"': "\\textquotedbl{}",
  "→": "$\\to$",
  "…": "\\dots{}",
};

function latexCell(text: string): string {
  return text
    .replace(/[\\~^<>|"→…]|[&%$#_{}]/g, (letter) => LATEX[letter] ?? `\\${letter}`)
    .replace(/^-(?=[\d.])/, "$-$")
    .replace(/\s+/g, " ");
}
