// The results: one table per system, each row with its distribution, its conditions and the command that repeats it.

const COLUMNS = [
  ["Model", "model"], ["Implementation", "implementation"], ["Mode", "mode"], ["Config", "config"],
  ["Batch Size", "batch_size", "number"], ["Score", "score", "number"], ["Units", "units"],
  ["Spread", "spread_percent", "number"], ["n", "repeats", "number"], ["Of peak", "roofline_fraction", "number"],
];

function resultsView() {
  const tables = shown.map(systemTable);
  const search = h("input", { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows" });
  search.value = reader.filter;
  const filter = () => {
    const words = reader.filter.toLowerCase().split(/\s+/).filter(Boolean);
    const isWanted = (row) => words.every((word) => row.name.toLowerCase().includes(word));
    const counts = tables.map((table) => table.filter(isWanted));
    // Systems without a match are left out, unless nothing matches anywhere.
    tables.forEach((table, index) => { table.section.hidden = counts[index] === 0 && counts.some((count) => count > 0); });
  };
  search.addEventListener("input", () => {
    reader.filter = search.value;
    filter();
  });
  filter();
  const legend = Object.entries(figures.legend).map(([sign, meaning]) => `${sign} ${meaning}`).join(" · ");
  return [
    h("div", { class: "bar" }, search, h("span", { class: "dim" }, legend)),
    ...tables.map((table) => table.section),
  ];
}

function systemTable(system) {
  const state = reader.sorts.get(system.id) ?? { by: null, down: true };
  reader.sorts.set(system.id, state);
  const body = h("tbody");
  const rows = system.rows.map((row) => ({ row, elements: rowElements(row, `${system.id} ${row.name}`) }));
  const none = h("div", { class: "empty", hidden: true }, "No row matches.");
  const draw = () => {
    const ordered = state.by === null ? rows : [...rows].sort((one, other) => order(one.row[state.by], other.row[state.by], state.down));
    body.replaceChildren(...ordered.flatMap(({ elements }) => elements));
  };
  const direction = (field) => (state.by !== field ? "none" : state.down ? "descending" : "ascending");
  const heads = COLUMNS.map(([name, field, kind]) => {
    const head = h("th", { class: kind, scope: "col", "aria-sort": direction(field) });
    head.append(h("button", { type: "button", click: () => {
      state.down = state.by === field ? !state.down : kind === "number";
      state.by = field;
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", direction(field));
      draw();
    } }, name));
    return head;
  });
  draw();
  const section = h("section", {},
    h("div", { class: "intro" }, h("h2", {}, system.title), system.host ? h("p", {}, system.host) : null),
    h("div", { class: "card" },
      h("div", { class: "scroll" }, h("table", { class: "folding" }, h("thead", {}, h("tr", {}, h("td"), heads, h("td"))), body)),
      none,
    ),
  );
  const filter = (isWanted) => {
    let shown = 0;
    for (const { row, elements } of rows) {
      const wanted = isWanted(row);
      shown += wanted;
      elements[0].hidden = !wanted;
      elements[1].hidden = !wanted || elements[0].dataset.open !== "true";
    }
    none.hidden = shown > 0;
    return shown;
  };
  return { section, filter };
}

function order(one, other, down) {
  if (one === other) return 0;
  if (one === null || one === undefined) return 1;
  if (other === null || other === undefined) return -1;
  return (one < other ? -1 : 1) * (down ? -1 : 1);
}

/** The line of a row, and what it opens to; `key` is what the reader has open is known by. */
function rowElements(row, key) {
  const more = h("tr", { class: "more", hidden: true });
  const arrow = s("svg", { viewBox: "0 0 10 10", width: 10, height: 10, "aria-hidden": "true" }, s("path", { d: "M3 1l4 4-4 4", fill: "none", stroke: "currentColor", "stroke-width": 1.6 }));
  const toggle = h("button", { class: "toggle", type: "button", "aria-expanded": "false", "aria-label": `Details of ${row.name}` }, arrow);
  const line = h("tr", { class: "row" }, h("td", { "data-field": "toggle" }, toggle));
  const show = () => {
    const open = reader.open.has(key);
    toggle.setAttribute("aria-expanded", String(open));
    line.dataset.open = String(open);
    if (open && !more.firstChild) more.append(h("td", { colspan: COLUMNS.length + 2 }, details(row)));
    more.hidden = !open;
  };
  toggle.addEventListener("click", () => {
    if (!reader.open.delete(key)) reader.open.add(key);
    show();
  });
  show();
  for (const [, field, kind] of COLUMNS) {
    const part = cell(row, field, kind);
    part.dataset.field = field;
    line.append(part);
  }
  line.append(h("td", { "data-field": "badges" }, badges(row)));
  return [line, more];
}

function cell(row, field, kind) {
  if (field === "score") return scoreCell(row);
  if (field === "spread_percent") return h("td", { class: "number dim" }, row.spread_percent === null || row.repeats < 2 ? "" : `±${row.spread_percent.toFixed(1)} %`);
  if (field === "roofline_fraction") return h("td", { class: "number" }, row.roofline_fraction === null ? "" : percent(row.roofline_fraction, 0));
  const value = row[field];
  return h("td", { class: kind }, value === null || value === undefined ? "" : String(value));
}

function scoreCell(row) {
  if (row.error) return h("td", { class: "number" }, chip(row.score_text, row.score_text === "failed" ? "bad" : "plain", row.error));
  const plain = row.signs ? row.score_text.slice(0, -row.signs.length) : row.score_text;
  const marks = [...row.signs].map((sign) => h("span", { class: sign === "?" ? "sign" : "sign bad", title: figures.legend[sign] }, sign));
  const content = h("span", {}, plain, marks);
  return h("td", { class: "number score" }, withHint(content, () => h("div", {}, h("b", {}, `${row.score_text} ${row.units}`), distribution(row))));
}

function badges(row) {
  const found = [];
  if (row.is_unstable) found.push(chip("unstable", "warn", "the repeats differ by more than a tenth of their median"));
  if (row.noisy) found.push(chip("noisy", "warn", row.noisy));
  if (row.is_correct === false) found.push(chip("incorrect", "bad", "the output is wrong, so the score means nothing"));
  return found.flatMap((badge, index) => (index ? [" ", badge] : [badge]));
}

function resultId(row) {
  if (!isFramed || !row.run) return row.id;
  return h("button", { type: "button", class: "link", title: "Open the run of this result", click: () => tell({ strobe: "run", run: row.run }) }, row.id);
}

function details(row) {
  const latency = row.latency_limit_ms === null ? "" : `${row.latency_status}: limit ${number(row.latency_limit_ms)} ms at p${row.latency_percentile}`;
  const tail = ["p50", "p90", "p95", "p99"].filter((name) => row[`${name}_ms`] !== null).map((name) => `${name} ${number(row[`${name}_ms`])}`).join(", ");
  const correct = row.is_correct === null ? "" : `${row.is_correct ? "yes" : "no"}${row.output_error === null ? "" : `, error ${row.output_error.toExponential(1)}`}`;
  const facts = definitions([
    ["Error", row.error ?? ""],
    ["Better", row.better === "less" ? "less" : ""],
    ["Latency", latency],
    [row.inner_loops > 1 ? `Mean of ${row.inner_loops} steps, ms` : "Step, ms", tail],
    ["Correct", correct],
    ["Of peak", row.roofline_fraction === null ? "" : `${percent(row.roofline_fraction, 0)} (${row.roofline_bound})`],
    ["Energy", row.energy_j_per_example === null ? "" : `${number(row.energy_j_per_example)} J per example`],
    ["Set-up", !row.setup_s ? "" : `${number(row.setup_s)} s`],
    ["Compiling", row.compile_s ? `${number(row.compile_s)} s` : ""],
    ["Memory", row.peak_rss_bytes ? `${number(row.peak_rss_bytes / 1e6)} MB` : ""],
    ["Card memory", row.peak_card_bytes ? `${number(row.peak_card_bytes / 1e6)} MB` : ""],
    ["Noise", row.noisy ?? ""],
    // Of the worst process, as what is noisy is.
    ["Load before", number(row.load_before)],
    ["Steal", row.steal_percent === null ? "" : `${row.steal_percent.toFixed(1)} %`],
    ["Version", `${row.version}${row.seal ? `, seal ${row.seal.slice(0, 8)}` : ""}`],
    ["Commit", short(row.git_commit) + (row.is_dirty ? " with changes" : "")],
    ["Measured", day(row.started_at)],
    ["Result", resultId(row)],
  ]);
  return h("div", { class: "details" },
    h("div", {}, facts),
    h("div", {}, distribution(row)),
    row.changes.length ? h("div", {}, h("h3", {}, "Otherwise than OOTB"), h("ul", {}, row.changes.map((change) => h("li", {}, change)))) : null,
    row.command ? h("div", { class: "command" }, h("code", {}, row.command), copyButton(row.command)) : null,
  );
}
