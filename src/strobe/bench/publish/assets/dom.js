// Elements, numbers as text, and the hint that follows the pointer or the focus.

const figures = JSON.parse(document.getElementById("figures").textContent);

/** Whether this is a frame of the dashboard, which hears what is to be opened and what is shown. */
const isFramed = window.self !== window.top;
const tell = (message) => isFramed && window.parent.postMessage(message, "*");

/** Make an element: h("td", {class: "number"}, "1", h("b", {}, "2")). Functions are listeners; text is never markup. */
function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

function number(value) {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  if (size >= 10000) return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
  if (size >= 1000) return value.toLocaleString("en-US", { maximumFractionDigits: 1 });
  if (size >= 100) return value.toFixed(1);
  return size >= 10 ? value.toFixed(2) : String(Number(value.toPrecision(3)));
}

const percent = (share, digits = 1) => `${(100 * share).toFixed(digits)} %`;
const signed = (share) => `${share >= 0 ? "+" : "−"}${percent(Math.abs(share))}`;
const short = (commit) => (commit ? commit.slice(0, 8) + (commit.endsWith("+") ? "+" : "") : "unknown commit");
const day = (text) => (text ? text.slice(0, 16).replace("T", " ") + " UTC" : "");
const speedup = (value) => `${value < 0.01 ? Number(value.toPrecision(2)) : value.toFixed(value > 0.9 && value < 1.1 ? 3 : 2)}×`;

const VERDICTS = { faster: "good", slower: "bad", incorrect: "bad", failed: "bad", inconclusive: "warn", same: "plain" };

function chip(text, kind, title) {
  return h("span", { class: `chip ${kind}`, title }, text);
}

function copyButton(text) {
  const button = h("button", { type: "button", "aria-label": "Copy command" }, "Copy");
  button.addEventListener("click", async () => {
    button.textContent = (await copy(text)) ? "Copied" : "Select it by hand";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return button;
}

async function copy(text) {
  // A page from a disk has no clipboard in some browsers; the old way still works there.
  if (navigator.clipboard && window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // not allowed: try the old way
    }
  }
  const area = h("textarea", { "aria-hidden": "true", style: "position:fixed;opacity:0" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

const hint = document.getElementById("hint");

/** Show what `make` returns beside an element while it is pointed at or has the focus. */
function withHint(element, make) {
  const show = () => {
    hint.replaceChildren(make());
    hint.hidden = false;
    const box = element.getBoundingClientRect();
    const own = hint.getBoundingClientRect();
    const left = Math.min(Math.max(8, box.left + box.width / 2 - own.width / 2), window.innerWidth - own.width - 8);
    const above = box.top - own.height - 8;
    hint.style.left = `${left}px`;
    hint.style.top = `${above > 8 ? above : Math.min(box.bottom + 8, window.innerHeight - own.height - 8)}px`;
  };
  const hide = () => (hint.hidden = true);
  element.setAttribute("tabindex", "0");
  for (const name of ["pointerenter", "focus"]) element.addEventListener(name, show);
  for (const name of ["pointerleave", "blur"]) element.addEventListener(name, hide);
  element.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  return element;
}

function definitions(pairs) {
  return h("dl", {}, pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined)
    .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}
