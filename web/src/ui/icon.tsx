// Icons: our own lines on a grid of 16. Decoration unless given a title: the control around them has the name.

import type { JSX } from "preact";

const PATHS = {
  add: "M8 3v10M3 8h10",
  back: "M9.5 3.5 5 8l4.5 4.5",
  bars: "M3 13V8M8 13V3M13 13V6",
  bell: "M4 11h8l-1-1.5V7a3 3 0 0 0-6 0v2.5L4 11ZM7 13h2",
  check: "M3.5 8.5 6.5 11.5 12.5 4.5",
  chevronDown: "M4 6l4 4 4-4",
  chevronRight: "M6 4l4 4-4 4",
  clock: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 5v3l2 1.5",
  close: "M4 4l8 8M12 4l-8 8",
  code: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  command:
    "M5.5 5.5h5v5h-5zM5.5 5.5V4A1.5 1.5 0 1 0 4 5.5h1.5ZM10.5 5.5V4A1.5 1.5 0 1 1 12 5.5h-1.5ZM5.5 10.5V12A1.5 1.5 0 1 1 4 10.5h1.5ZM10.5 10.5V12a1.5 1.5 0 1 0 1.5-1.5h-1.5Z",
  compare: "M3 3h4v10H3zM9 3h4v10H9z",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  dots: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  download: "M8 2.5v7.5M4.5 7 8 10.5 11.5 7M3 13.5h10",
  drag: "M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01",
  edit: "M3 13l.7-2.8L10.5 3.4l2.1 2.1-6.8 6.8L3 13Z",
  expand: "M9.5 2.5h4v4M13.5 2.5 9 7M6.5 13.5h-4v-4M2.5 13.5 7 9",
  eye: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8ZM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4Z",
  eyeOff:
    "M2.5 2.5l11 11M6 4a6.6 6.6 0 0 1 2-.5c4 0 6.5 4.5 6.5 4.500a11 11 0 0 1-1.7 2.200M4 5.300A11 11 0 0 0 1.5 8S4 12.5 8 12.500a6.5 6.5 0 0 0 2.8-.7",
  file: "M4 2.500h5L12.5 6v7.500H4zM9 2.500V6h3.5",
  filter: "M2.5 4h11M4.5 8h7M6.5 12h3",
  folder: "M2 4h4.500L8 5.500h6v7.500H2z",
  gauge: "M2.5 12a6 6 0 1 1 11 0M8 11l3-4.5",
  group: "M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z",
  info: "M8 2.500a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM8 7.500V11M8 5.200h.01",
  keyboard: "M1.5 4h13v8h-13zM4 6.500h.01M6.7 6.500h.01M9.4 6.500h.01M12 6.500h.01M4.5 9.500h7",
  link: "M6.5 9.500l3-3M7 4.500l1.5-1.500a2.8 2.8 0 0 1 4 4L11 8.500M9 11.5 7.5 13a2.8 2.8 0 0 1-4-4L5 7.5",
  lock: "M4 7.500h8v6H4zM5.5 7.500V5a2.5 2.5 0 0 1 5 0v2.5",
  menu: "M2.5 4.500h11M2.5 8h11M2.5 11.500h11",
  monitor: "M2 3h12v8H2zM6 13.500h4M8 11v2.5",
  moon: "M13 9.300A5.5 5.5 0 1 1 6.7 3a4.5 4.5 0 0 0 6.3 6.300Z",
  pause: "M5.5 3.500v9M10.5 3.500v9",
  pin: "M6 2.500h4l-.5 4 2.5 2.500H4l2.5-2.5-.5-4ZM8 9v4.5",
  play: "M5 3.500v9l7-4.5-7-4.500Z",
  plug: "M5.5 2v3.500M10.5 2v3.500M4 5.500h8V8a4 4 0 0 1-8 0V5.500ZM8 12v2.5",
  reload: "M13 8a5 5 0 1 1-1.5-3.500L13 6M13 2.500V6H9.5",
  search: "M7 2.500a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.300l3.2 3.2",
  settings:
    "M2.5 5h6M12 5h1.500M2.5 11H4M7.5 11h6M10 3.500a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3ZM5.8 9.500a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3Z",
  signOut: "M9.5 3H3v10h6.500M6.5 8H14M11.5 5.5 14 8l-2.5 2.5",
  sort: "M5 3v10M2.5 10.5 5 13l2.5-2.500M11 13V3M8.5 5.5 11 3l2.5 2.5",
  star: "M8 2.200l1.8 3.7 4 .6-2.9 2.8.7 4L8 11.400l-3.6 1.9.7-4L2.2 6.500l4-.6L8 2.200Z",
  stop: "M4 4h8v8H4z",
  sun: "M8 5.200a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.600ZM8 1.500v1.300M8 13.200v1.300M1.5 8h1.300M13.2 8h1.300M3.4 3.400l.9.9M11.7 11.700l.9.9M3.4 12.600l.9-.9M11.7 4.300l.9-.9",
  table: "M2.5 3h11v10h-11zM2.5 6.500h11M2.5 9.700h11M6.5 6.500V13",
  tag: "M2.5 2.500h5.500l5.5 5.5-5.5 5.500L2.5 8zM5.3 5.300h.01",
  terminal: "M2 3h12v10H2zM4.5 6l2 2-2 2M8 10.500h3",
  trash: "M3 4.500h10M6.5 4.500v-2h3v2M4.5 4.500l.5 9h6l.5-9",
  user: "M8 3a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5ZM3 13.500c.5-2.5 2.5-3.7 5-3.700s4.5 1.2 5 3.7",
  warning: "M8 2.5 14 13H2L8 2.500ZM8 6.500v3M8 11.300h.01",
  zoomOut: "M7 2.500a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.300l3.2 3.200M5 7h4",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }): JSX.Element {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
