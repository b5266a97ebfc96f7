// Accuracy against cost: what a task takes in each implementation and precision, and how far its output is off.

function paretoView() {
  const systems = shown.filter((system) => system.trade_offs.length);
  if (!systems.length) return orNothing([]);
  return [
    h("p", {}, "The same work in each implementation and precision: further left is cheaper, further down is more exact. The error is the output's against its reference, relative to how much the output varies; the bar at the end of a dotted line is the error that is allowed. ",
      `Filled marks, joined by a line, are the best: nothing else is as cheap and as exact. Errors up to ${errorText(figures.rounding)} are how fp32 rounds, and count as equal.`),
    ...systems.map((system) => h("section", {},
      h("h2", {}, system.title),
      h("div", { class: "grid wide" }, system.trade_offs.map((task) => h("div", { class: "card" },
        h("h3", {}, task.title, h("span", { class: "dim" }, task.conditions && ` ${task.conditions}`)),
        tradeOff(task),
        markTable(task),
      ))),
    )),
  ];
}

function errorText(value) {
  if (value === null) return "not finite";
  const rounded = Number(value.toPrecision(2));
  return value === 0 || value >= 1e-3 ? String(rounded) : rounded.toExponential();
}

/** Where errors lie: decades upwards; those that are exactly 0 on a line below, those that are not finite above. */
function errorScale(marks) {
  const values = marks.flatMap((mark) => [mark.error, mark.tolerance]);
  const known = values.filter((value) => value > 0);
  if (!known.length) known.push(1);
  const low = Math.floor(Math.log10(Math.min(...known)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...known))));
  const isExact = values.includes(0), isOdd = values.includes(null);
  const bottom = low - (isExact ? 1.4 : 0.3);
  const every = high - low > 5 ? 2 : 1;
  const ticks = [];
  for (let power = high; power >= low; power -= every) ticks.push([power, errorText(Number(`1e${power}`))]);
  if (isExact) ticks.push([low - 1, "0"]);
  if (isOdd) ticks.push([high + 1, ""]);
  return {
    at: (value) => (value === null ? high + 1 : value > 0 ? Math.log10(value) : low - 1),
    range: [bottom, high + (isOdd ? 1 : 0) + 0.1 * (high - bottom)],
    ticks,
  };
}

function tradeOff(task) {
  const scale = errorScale(task.marks);
  const x = [0, 1.08 * Math.max(...task.marks.map((mark) => mark.cost))];
  const { svg, sx, sy, box } = plot({
    height: 230, x, y: scale.range, yTicks: scale.ticks, xLabel: `${task.unit} per example`, yLabel: "error", label: `${task.title}: error against time per example`,
  });
  const places = task.marks.map((mark) => ({ mark, x: sx(mark.cost), y: sy(scale.at(mark.error)), cap: sy(scale.at(mark.tolerance)) }));
  const best = places.filter(({ mark }) => mark.is_best);
  svg.append(s("polyline", { class: "frontier", points: best.map(({ x, y }) => `${x},${y}`).join(" ") }));
  for (const { x, y, cap } of places) {
    svg.append(s("path", { class: "allowed", d: `M${x} ${y}V${cap}` }), s("path", { class: "allowed cap", d: `M${x - 7} ${cap}H${x + 7}` }));
  }
  const taken = places.map(({ x, y }) => around(x, y, 7));
  const lines = places.map(({ x, y, cap }) => ({ left: x - 2, right: x + 2, top: Math.min(y, cap), bottom: Math.max(y, cap) }));
  // The best have the first choice of a place for their names, and lie above what they may cover.
  const ranked = [...best, ...places.filter(({ mark }) => !mark.is_best)];
  const nameOf = (mark) => (mark.is_correct ? mark.name : `${mark.name}, incorrect`);
  for (const { mark, x, y } of ranked) {
    const text = nameOf(mark);
    svg.append(s("text", { class: `name ${mark.is_correct ? (mark.is_best ? "best" : "") : "bad"}`, ...spotFor(widthOf(text, mark.is_best), x, y, box, taken, lines) }, text));
  }
  for (const { mark, x, y } of ranked.reverse()) {
    const text = nameOf(mark);
    const sign = s("g", { class: "mark", transform: `translate(${x} ${y})`, role: "img", "aria-label": `${text}: ${number(mark.cost)} ${task.unit} per example, error ${errorText(mark.error)}` }, glyph(mark));
    svg.append(withHint(sign, () => h("div", {}, h("b", {}, text), definitions([
      ["Per example", `${number(mark.cost)} ${task.unit}`], ["Throughput", mark.score_text], ["Error", errorText(mark.error)],
      ["Tolerance", errorText(mark.tolerance)], ["Against", mark.reference],
    ]))));
  }
  return svg;
}

/** A mark by its worth: filled if nothing beats it, hollow if something does, a cross if its output is wrong. */
function glyph(mark) {
  if (!mark.is_correct) return [s("circle", { r: 7, fill: "transparent" }), s("path", { class: "wrong", d: "M-4.5-4.5 4.5 4.5M-4.5 4.5 4.5-4.5" })];
  return [s("circle", { class: mark.is_best ? "dot best" : "dot", r: mark.is_best ? 6 : 5 })];
}

const around = (x, y, reach) => ({ left: x - reach, right: x + reach, top: y - reach, bottom: y + reach });
const overlap = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

const pencil = document.createElement("canvas").getContext("2d");
function widthOf(text, isBold) {
  pencil.font = `${isBold ? 600 : 450} 11px ${getComputedStyle(document.body).fontFamily}`;
  return pencil.measureText(text).width;
}

/**
 * Where a name fits, which is `taken` then: left of its mark, where nothing better lies, right, or a line lower or higher.
 * It crosses `lines` only if there is no other place.
 */
function spotFor(width, x, y, box, taken, lines) {
  const centred = Math.min(Math.max(box.left, x - width / 2), box.right - width);
  const lefts = [x - 10 - width, x + 10, centred];
  const spots = [0, 15, -15, 30, -30].flatMap((shift) => lefts.map((left) => ({ left, right: left + width, top: y + shift - 7, bottom: y + shift + 7 })));
  const isInside = (area) => area.left >= box.left && area.right <= box.right + 8 && area.top >= box.top && area.bottom <= box.bottom;
  const inside = spots.filter(isInside);
  const freeOf = (others) => inside.find((one) => !others.some((other) => overlap(one, other)));
  const area = freeOf([...taken, ...lines]) ?? freeOf(taken) ?? inside[0] ?? spots[0];
  taken.push(area);
  return { x: area.left, y: area.top + 11 };
}

function markTable(task) {
  const worth = (mark) => (mark.is_correct ? (mark.is_best ? "one of the best" : "beaten") : "incorrect");
  return h("table", { class: "marks" },
    h("thead", {}, h("tr", {}, [["Implementation"], [`Time, ${task.unit}`, "number"], ["Error", "number"], ["Tolerance", "number"]].map(([name, kind]) => h("th", { class: kind, scope: "col" }, name)))),
    h("tbody", {}, task.marks.map((mark) => h("tr", { class: "row" },
      h("td", {}, s("svg", { viewBox: "-8 -8 16 16", width: 14, height: 14, role: "img", "aria-label": worth(mark) }, s("title", {}, worth(mark)), glyph(mark)), mark.name),
      h("td", { class: "number" }, number(mark.cost)),
      h("td", { class: "number" }, h("span", { class: mark.is_correct ? null : "sign bad" }, errorText(mark.error))),
      h("td", { class: "number dim" }, errorText(mark.tolerance)),
    ))),
  );
}
