// Where the reader is: what is typed, sorted, opened and chosen. Views draw from it, so it outlives another view and other
// systems; and the page itself, when the dashboard around it has it loaded again because there are newer results.

// A frame has no origin, so nothing else of it outlives a load than its name.
const KEPT = "strobe-reader ";
const kept = isFramed && window.name.startsWith(KEPT) ? JSON.parse(window.name.slice(KEPT.length)) : {};
if (isFramed) window.name = "";

const reader = {
  filter: kept.filter ?? "",
  /** System → by which column, and which way. */
  sorts: new Map(kept.sorts),
  open: new Set(kept.open),
  /** View → the comparison that was chosen. */
  pairs: new Map(kept.pairs),
  top: kept.top ?? 0,
};

/** Load the page again, and come back to the same place in it. */
function renew() {
  const { filter, sorts, open, pairs } = reader;
  window.name = KEPT + JSON.stringify({ filter, sorts: [...sorts], open: [...open], pairs: [...pairs], top: window.scrollY });
  location.reload();
}

if (isFramed) {
  window.addEventListener("message", (event) => event.source === window.parent && event.data?.strobe === "renew" && renew());
}
