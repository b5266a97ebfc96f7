// Before anything is painted: the chosen theme, so that a dark page does not begin with a white flash (app/theme.ts).
(() => {
  let theme = new URLSearchParams(location.search).get("theme");
  try {
    theme ??= localStorage.getItem("strobe.theme");
  } catch {
    // a browser that keeps nothing
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
