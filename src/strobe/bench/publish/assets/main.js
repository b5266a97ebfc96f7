// Views and systems by the address's hash, so that each has a link; the theme; and what the page says about itself.

const VIEWS = [
  ["results", "Results", resultsView, true],
  ["implementations", "OOTB v. Optimized", implementationsView, figures.systems.some((system) => system.pairs.rows.length)],
  ["commits", "Commits", commitsView, figures.commits.length > 0],
  ["systems", "Systems", systemsView, figures.between.length > 0],
  ["curves", "Latency–throughput", curvesView, figures.systems.some((system) => system.curves.length)],
  ["pareto", "Accuracy–cost", paretoView, figures.systems.some((system) => system.trade_offs.length)],
  ["history", "History", historyView, figures.history.length > 0],
  ["environment", "Environment", environmentView, true],
].filter(([, , , isThere]) => isThere);

const nav = document.querySelector("nav");
const main = document.querySelector("main");
const links = new Map(VIEWS.map(([name, title]) => [name, h("a", {}, title)]));
nav.append(...links.values());
const choice = systemChoice();

function show() {
  const asked = readAddress();
  shown = asked.systems;
  choice.update();
  const [view, title, draw] = VIEWS.find(([known]) => known === asked.view) ?? VIEWS[0];
  for (const [known, link] of links) {
    link.setAttribute("href", addressOf(known));
    if (known === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  hint.hidden = true;
  document.title = `${title} – ${figures.title}`;
  main.replaceChildren(...draw());
  window.scrollTo(0, 0);
  tell({ strobe: "view", view, systems: written(shown), results: figures.num_results });
}

const THEMES = ["auto", "light", "dark"];
const themeButton = h("button", { type: "button", class: "quiet" });
let theme = 0;
function setTheme(index) {
  theme = index % THEMES.length;
  if (theme) document.documentElement.dataset.theme = THEMES[theme];
  else delete document.documentElement.dataset.theme;
  themeButton.textContent = `Theme: ${THEMES[theme]}`;
}
themeButton.addEventListener("click", () => setTheme(theme + 1));
setTheme(Math.max(0, THEMES.indexOf(new URLSearchParams(location.search).get("theme"))));

if (figures.systems.length > 1) document.querySelector(".tools").append(choice.element);
// A frame of the dashboard has a title and a theme already.
if (!isFramed) {
  document.querySelector("h1").append(figures.title);
  document.querySelector(".tools").append(themeButton);
}
document.querySelector("footer").append([`Made ${day(figures.made)} by Strobe ${figures.strobe}.`, ...figures.notes].join(" "));
window.addEventListener("hashchange", show);
document.addEventListener("scroll", () => (hint.hidden = true), { passive: true });
show();
window.scrollTo(0, reader.top);
