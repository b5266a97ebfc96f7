"""What a finger does not get at: controls beside the window, below something else, or too small to be met."""

from __future__ import annotations

from playwright.sync_api import Page

#: the least size of a target in WCAG 2.2, 2.5.8
LEAST_PX = 24

_LOOK = """least => {
  const told = [];
  const name = (element) =>
    `${element.tagName.toLowerCase()} "${(element.ariaLabel || element.textContent).trim().slice(0, 40)}"`;
  const isWithin = (box, x, y) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
  const parents = (element) => {
    const found = [];
    for (let at = element.parentElement; at; at = at.parentElement) found.push(at);
    return found;
  };
  // what stays while the rest scrolls gives way to it
  const isStuck = (element) =>
    [element, ...parents(element)].some((one) => getComputedStyle(one).position === "sticky");
  // what lies over the page has the fingers for itself
  const front = document.querySelector("dialog[open]") ?? document.querySelector(":popover-open") ?? document.body;
  for (const control of front.querySelectorAll("button, a[href], input, select, textarea, summary, [role=option]")) {
    const box = control.getBoundingClientRect();
    const style = getComputedStyle(control);
    if (box.width === 0 || box.height === 0 || style.visibility === "hidden") continue;
    if (control.closest(".skip, .unseen, svg")) continue;
    const x = box.left + box.width / 2;
    const y = box.top + box.height / 2;
    const around = parents(control).filter((one) => /auto|scroll|hidden|clip/.test(getComputedStyle(one).overflow));
    if (around.length === 0 && (box.left < -1 || box.right > innerWidth + 1)) told.push(`${name(control)} is outside`);
    // what is scrolled away comes back
    if (!isWithin({ left: 0, right: innerWidth, top: 0, bottom: innerHeight }, x, y)) continue;
    if (!around.every((one) => isWithin(one.getBoundingClientRect(), x, y))) continue;
    const met = document.elementFromPoint(x, y);
    const isOwn = control.contains(met) || met.contains(control) || met.closest("label")?.contains(control);
    if (!isOwn && !isStuck(met)) told.push(`${name(control)} is below ${name(met)}`);
    // links in lines of text are as high as these
    if (control.matches("a:not(.button), .link, input")) continue;
    if (box.width < least || box.height < least) {
      told.push(`${name(control)} is ${Math.round(box.width)} by ${Math.round(box.height)}`);
    }
  }
  return told;
}"""


def beyond_reach(page: Page) -> list[str]:
    """Return the controls that are on the screen, or ought to be, but cannot be met; with why."""
    told: list[str] = page.evaluate(_LOOK, LEAST_PX)
    return told
