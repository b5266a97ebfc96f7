// Which systems are shown: chosen in the header, kept in the address behind the view, so that a link shows the same.

const SYSTEMS = "?systems=";
/** The systems that every view draws; `show` sets it from the address. */
let shown = figures.systems;

const isShown = (id) => shown.some((system) => system.id === id);
const titleOf = new Map(figures.systems.map((system) => [system.id, system.title]));

/** What the address says: a view, and the systems; all of them if it names none that is here. */
function readAddress() {
  const [view, names = ""] = location.hash.slice(1).split(SYSTEMS);
  const wanted = new Set(names.split(","));
  const found = figures.systems.filter((system) => wanted.has(encodeURIComponent(system.id)));
  return { view, systems: found.length ? found : figures.systems };
}

/** The systems as the address has them; nothing if they are all. */
function written(systems) {
  return systems.length === figures.systems.length ? "" : systems.map((system) => encodeURIComponent(system.id)).join(",");
}

function addressOf(view, systems = shown) {
  const names = written(systems);
  return `#${view}${names && SYSTEMS + names}`;
}

/** Show some systems; no entry in the browser's history, or leaving the page would take as many steps back as choices. */
function choose(systems) {
  location.replace(addressOf(readAddress().view, systems));
}

/** A view's parts, or that the chosen systems have none. */
function orNothing(parts, told = "There is nothing of this kind from what is chosen.") {
  if (parts.length) return parts;
  const all = h("button", { type: "button", click: () => choose(figures.systems) }, "Show all systems");
  return [h("div", { class: "card empty" }, h("p", {}, told), shown.length < figures.systems.length ? all : null)];
}

/** The control: a button that says how many are shown, and opens a list to tick. `update` follows the address. */
function systemChoice() {
  const summary = h("summary", {});
  const rows = figures.systems.map((system) => {
    const box = h("input", { type: "checkbox", change: () => choose(figures.systems.filter((other) => (other === system ? box.checked : isShown(other.id)))) });
    const only = h("button", { type: "button", class: "quiet", "aria-label": `Only ${system.title}, ${system.host}`, click: () => choose([system]) }, "Only");
    const label = h("label", {}, box, h("span", {}, system.title, h("span", { class: "dim" }, [system.host, `${system.rows.length} rows`].filter(Boolean).join(" · "))));
    return { system, box, element: h("li", {}, label, only) };
  });
  const all = h("button", { type: "button", class: "quiet", click: () => choose(figures.systems) }, "Show all");
  const element = h("details", { class: "choice" }, summary,
    h("div", { class: "panel" }, h("div", { class: "bar" }, h("b", {}, "Systems that are shown"), all), h("ul", {}, rows.map((row) => row.element))));
  const update = () => {
    const isAll = shown.length === figures.systems.length;
    summary.textContent = isAll ? `All ${figures.systems.length} systems` : `${shown.length} of ${figures.systems.length} systems`;
    summary.classList.toggle("some", !isAll);
    for (const { system, box } of rows) {
      box.checked = isShown(system.id);
      // A page of nothing is no choice.
      box.disabled = box.checked && shown.length === 1;
    }
  };
  const close = () => (element.open = false);
  document.addEventListener("click", (event) => element.contains(event.target) || close());
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !element.open) return;
    close();
    summary.focus();
  });
  return { element, update };
}
