// Courses over time, those that got slower first and those that have ended last; and curves of latency against throughput.

function curvesView() {
  const has = (task, limit) => task.lines.some((line) => line.points.some((point) => point.limit === limit));
  return orNothing(shown.filter((system) => system.curves.length).map((system) => h("section", {},
    h("h2", {}, system.title),
    h("div", { class: "grid" }, system.curves.map((task) => h("div", { class: "card" },
      h("h3", {}, task.title),
      curve(task),
      h("ul", { class: "key" }, task.lines.map((line, index) => h("li", {}, h("i", { style: `background:var(--line-${(index % 6) + 1})` }), line.label)),
        has(task, "missed") ? h("li", {}, "hollow: the limit is missed") : null,
        has(task, "undecided") ? h("li", {}, "hollow and dashed: too few steps to tell whether the limit is kept") : null),
    ))),
  )));
}

function historyView() {
  const named = (host) => figures.systems.filter((system) => system.host === host).length;
  const hosts = new Map(figures.systems.map((system) => [system.id, named(system.host) === 1 ? system.host || system.title : `${system.host || system.title} (${system.id})`]));
  const ordered = figures.history.filter((series) => isShown(series.system)).sort((one, other) => one.is_ended - other.is_ended || one.against_best - other.against_best);
  if (!ordered.length) return orNothing([]);
  const worse = ordered.filter((series) => series.is_worse).length;
  return [
    h("p", {}, `${ordered.length} courses, ${worse} slower than at their best. A step is a change of level that lasts for three sessions or more; noise alone leaves the shaded band in one of twenty sessions.`),
    h("div", { class: "grid" }, ordered.map((series) => h("div", { class: "card" },
      h("div", { class: "bar" }, h("h2", {}, series.name), historyChip(series)),
      h("div", { class: "dim" }, historyLine(series, hosts)),
      course(series),
      series.steps.length ? h("ul", { class: "key" }, series.steps.map((step) => h("li", {}, `${signed(step.change)}: `, h("code", {}, `${short(step.before)}..${short(step.after)}`)))) : null,
    ))),
  ];
}

function historyChip(series) {
  if (series.is_ended) return chip("ended", "plain", "the benchmark was measured in another version since");
  return series.is_worse ? chip(`${signed(series.against_best)} against best`, "bad") : null;
}

function historyLine(series, hosts) {
  const level = `${number(series.levels.at(-1)[2])} ${series.unit} ${series.is_ended ? "in the end" : "now"}`;
  const place = shown.length > 1 ? hosts.get(series.system) : "";
  return [level, `${series.points.length} sessions`, series.distinction, place].filter(Boolean).join(", ");
}
