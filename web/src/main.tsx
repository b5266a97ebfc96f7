import { render } from "preact";

render(<h1>Strobe</h1>, document.getElementById("app") as HTMLElement);
