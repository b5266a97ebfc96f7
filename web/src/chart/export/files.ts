// All that makes a file of a panel, as one part of the page.

export { csvOf } from "./csv";
export { jsonOf } from "./json";
export { matplotlibOf } from "./matplotlib";
export { pngOf } from "./png";
export { svgOf } from "./svg";
