// Roles of the run list for screen readers. Spans and not a <table>: rows are virtual, and the grid has the focus.

export const ROW = { role: "row" } as const;
export const CELL = { role: "gridcell" } as const;
export const HEADING = { role: "columnheader" } as const;
