// What is compared: OOTB with Optimized on a system, systems with each other, and environments from session to session.

function comparisonTable(found, nameA, nameB) {
  const reach = reachOf(found.rows.filter((row) => row.speedup !== null));
  const body = found.rows.map((row) => h("tr", { class: "row" },
    h("td", { "data-field": "name" },
      row.benchmark,
      h("span", { class: "dim" }, row.name.slice(row.benchmark.length)),
      row.notes.length ? h("div", { class: "notes dim" }, row.notes.join("; ")) : null,
    ),
    h("td", { class: "number", "data-field": "a" }, row.a_text),
    h("td", { class: "number", "data-field": "b" }, row.b_text),
    row.speedup === null ? h("td", { "data-field": "speed" }, "") : h("td", { class: "number score", "data-field": "speed" }, withHint(h("span", {}, speedup(row.speedup)), () => comparisonHint(row, nameA, nameB))),
    h("td", { "data-field": "whisker" }, row.speedup === null ? "" : whisker(row, reach)),
    h("td", { "data-field": "verdict" }, chip(row.verdict, VERDICTS[row.verdict], row.reason || null)),
  ));
  const heads = [["Benchmark"], [nameA, "number"], [nameB, "number"], ["Speed-up", "number"], ["95 % bounds"], ["Verdict"]];
  return h("div", { class: "card scroll" }, h("table", { class: "folding compared" }, h("thead", {}, h("tr", {}, heads.map(([name, kind]) => h("th", { class: kind, scope: "col" }, name)))), h("tbody", {}, body)));
}

/** Rows that are not compared, and why: none goes missing in silence. */
function leftOutRows(found) {
  if (!found.left_out.length) return [];
  const rows = found.left_out.map((one) => h("li", {}, one.name, h("span", { class: "dim" }, `: ${one.reason}`)));
  return [h("details", { open: rows.length <= 5, class: "left-out" }, h("summary", {}, `Not compared: ${rows.length}`), h("ul", {}, rows))];
}

function comparisonHint(row, nameA, nameB) {
  return h("div", {}, h("b", {}, `${speedup(row.speedup)} (${row.bounds_text})`), definitions([
    ["p", row.p < 0.001 ? "< 0.001" : row.p.toFixed(3)],
    ["Noise floor", row.noise_floor ? `${percent(row.noise_floor)}, ${row.noise_grounds}` : row.noise_grounds],
    [nameA, `n=${row.a.n}`],
    [nameB, `n=${row.b.n}`],
    ["Changes", row.changes.join("; ")],
  ]));
}

function geomeanText(found) {
  const mean = found.geomean;
  if (!mean) return "";
  return `Geometric mean ${speedup(mean.value)} (${mean.bounds_text}, ${mean.rows} rows).`;
}

function implementationsView() {
  const systems = shown.filter((system) => system.pairs.rows.length);
  return orNothing(systems.map((system) => h("section", {},
    h("div", { class: "intro" }, h("h2", {}, system.title), h("p", {}, geomeanText(system.pairs))),
    comparisonTable(system.pairs, "OOTB", "Optimized"),
    leftOutRows(system.pairs),
  )));
}

function systemsView() {
  const titles = new Map(figures.systems.map((system, index) => [system.id, `${index + 1}. ${system.title}`]));
  const between = figures.between.filter((found) => isShown(found.a) && isShown(found.b));
  const num = figures.compared_systems.length;
  const cap = `The ${num} of ${figures.systems.length} systems that were measured last are compared with each other; strobe bench compare --systems compares any two.`;
  return [
    ...(num < figures.systems.length ? [h("p", {}, cap)] : []),
    ...(shown.length > 1 ? chosenComparison("systems", between, (found) => `${titles.get(found.a)}  →  ${titles.get(found.b)}`) : orNothing([], "A comparison needs two systems, and one is chosen.")),
  ];
}

function commitsView() {
  const name = (found) => `${found.a}  →  ${found.b}${shown.length > 1 ? `  (${titleOf.get(found.system)})` : ""}`;
  return [
    h("p", {}, "Any two of the newest commits that were measured on a system, row by row; the newest against the one before it comes first."),
    ...chosenComparison("commits", figures.commits.filter((found) => isShown(found.system)), name),
  ];
}

/** One of several comparisons, chosen from a list, with what differs between the environments of its sides. */
function chosenComparison(view, comparisons, name) {
  if (!comparisons.length) return orNothing([]);
  const key = (found) => [found.a, found.b, found.system].join(" ");
  const chosen = Math.max(0, comparisons.findIndex((found) => key(found) === reader.pairs.get(view)));
  const select = h("select", {}, comparisons.map((found, index) => h("option", { value: index, selected: index === chosen }, name(found))));
  const place = h("section");
  const draw = () => {
    const found = comparisons[Number(select.value)];
    place.replaceChildren(
      h("p", {}, geomeanText(found)),
      found.rows.length ? comparisonTable(found, "A", "B") : h("div", { class: "card empty" }, "There is no row in common."),
      ...leftOutRows(found),
      h("h2", {}, "What differs"),
      environmentTable(found.environment, "A", "B"),
    );
  };
  select.addEventListener("change", () => {
    reader.pairs.set(view, key(comparisons[Number(select.value)]));
    draw();
  });
  draw();
  return [h("div", { class: "bar" }, h("label", {}, "A → B", select)), place];
}

function environmentTable(rows, nameA, nameB) {
  if (!rows.length) return h("div", { class: "card empty" }, "Nothing that is recorded.");
  return h("div", { class: "card scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, ["Fact", nameA, nameB].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", { class: "row" }, h("td", {}, row.name), h("td", { class: "wrap mono" }, row.a || "–"), h("td", { class: "wrap mono" }, row.b || "–")))),
  ));
}

function environmentView() {
  return shown.map((system) => h("section", {},
    h("h2", {}, system.title),
    h("div", { class: "grid" },
      h("div", { class: "card" }, h("h3", {}, "Hardware"), definitions(Object.entries(system.hardware))),
      h("div", { class: "card" }, h("h3", {}, "Software"), definitions(Object.entries(system.software))),
    ),
    system.changes.length ? h("h2", {}, "Changes between sessions") : null,
    system.changes.map((change, index) => h("details", { open: index === 0 },
      h("summary", {}, `${day(change.from)} → ${day(change.to)}: ${change.rows.map((row) => row.name).join(", ")}`),
      environmentTable(change.rows, "before", "after"),
    )),
  ));
}
