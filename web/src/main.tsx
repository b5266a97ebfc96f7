// Mounts the app.

import { render } from "preact";
import { App } from "./app/app";
import { registerEverywhere } from "./app/commands";
import { crumbsOf } from "./app/header";
import { page } from "./app/navigation";
import { readServer } from "./app/session";
import { applyTheme } from "./app/theme";
import { followTitle } from "./app/title";
import { listen } from "./keys/commands";
import "./style/tokens.css";
import "./style/base.css";

applyTheme();
registerEverywhere();
listen();
followTitle(() =>
  crumbsOf(page.value, null)
    .map((crumb) => crumb.title)
    .slice(-1)
    .join(""),
);
void readServer();
render(<App />, document.getElementById("app") as HTMLElement);
