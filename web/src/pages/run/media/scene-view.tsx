// A scene that can be turned: drawn anew on a small canvas with every move, which needs no library and no GPU.

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useWidth } from "../../../chart/svg/frame";
import { type ChartTheme, chartTheme } from "../../../chart/theme";
import { counted } from "../../../series/format";
import { COLOURS } from "../../../series/palette";
import { FileNote } from "./file-note";
import { type Place, type Scene, sceneOf } from "./scene";
import { useFileText } from "./use-file-text";

interface View {
  readonly yaw: number;
  readonly pitch: number;
  readonly zoom: number;
}

const START: View = { yaw: -0.6, pitch: -0.4, zoom: 1 };
const KEY_TURN = 0.15;
const PER_PIXEL = 0.01;
/** Points that are drawn while the picture moves; the rest is told. */
const MOST = 100_000;

export function SceneItem({
  path,
  size,
  what,
}: {
  path: string;
  size: number | null;
  what: string;
}): JSX.Element {
  const { text, problem } = useFileText(path, size);
  const scene = useMemo(() => (text === null ? null : sceneOf(path, text)), [path, text]);
  if (text === null && problem === null) return <p class="quiet">Loading</p>;
  if (scene === null)
    return (
      <FileNote path={path} size={size} what={what} why={problem ?? "nothing in it can be drawn here"} />
    );
  const shown = Math.min(MOST, scene.points.length);
  const told =
    shown < scene.points.length
      ? `showing ${counted(shown, scene.unit)} of ${scene.points.length.toLocaleString("en")}`
      : counted(scene.points.length, scene.unit);
  return (
    <div class="scene">
      <Canvas scene={scene} label={`${what}, ${told}`} />
      <FileNote path={path} size={size} what={what} why={told} />
    </div>
  );
}

function Canvas({ scene, label }: { scene: Scene; label: string }): JSX.Element {
  const [holder, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [view, setView] = useState(START);
  const theme = chartTheme().value;
  useLayoutEffect(() => {
    const place = canvas.current;
    if (place !== null && width > 0) draw(place, scene, view, width, theme);
  }, [scene, view, width, theme]);
  useEffect(() => setView(START), [scene]);
  const turn = (yaw: number, pitch: number): void =>
    setView((now) => ({
      ...now,
      yaw: now.yaw + yaw,
      pitch: Math.max(-1.57, Math.min(1.57, now.pitch + pitch)),
    }));
  const zoom = (by: number): void =>
    setView((now) => ({ ...now, zoom: Math.max(0.2, Math.min(20, now.zoom * by)) }));
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowLeft") turn(-KEY_TURN, 0);
    else if (event.key === "ArrowRight") turn(KEY_TURN, 0);
    else if (event.key === "ArrowUp") turn(0, -KEY_TURN);
    else if (event.key === "ArrowDown") turn(0, KEY_TURN);
    else if (event.key === "+" || event.key === "=") zoom(1.2);
    else if (event.key === "-") zoom(1 / 1.2);
    else if (event.key === "0") setView(START);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={holder}
      class="scene-place"
      role="application"
      aria-roledescription="scene in space"
      aria-label={`${label}. Arrow keys turn it, + and - zoom, 0 is the start.`}
      title="Drag to turn, Ctrl and the wheel to zoom"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys turn it
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (event.buttons !== 0) turn(event.movementX * PER_PIXEL, event.movementY * PER_PIXEL);
      }}
      onWheel={(event) => {
        if (!event.ctrlKey) return; // the page is to be scrolled
        event.preventDefault();
        zoom(Math.exp(-event.deltaY / 300));
      }}
    >
      <canvas ref={canvas} />
    </div>
  );
}

function draw(canvas: HTMLCanvasElement, scene: Scene, view: View, width: number, theme: ChartTheme): void {
  const ratio = window.devicePixelRatio || 1;
  const height = canvas.parentElement?.clientHeight ?? 0;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.cssText = `width:${width}px;height:${height}px`;
  const context = canvas.getContext("2d");
  if (context === null) return;
  const { middle, radius } = boundsOf(scene);
  const scale = ((Math.min(width, height) / 2 - 8) / radius) * view.zoom * ratio;
  const [sinY, cosY] = [Math.sin(view.yaw), Math.cos(view.yaw)];
  const [sinP, cosP] = [Math.sin(view.pitch), Math.cos(view.pitch)];
  // z is up; what is left after turning is across, up, and towards the one who looks
  const seen = (at: Place): [number, number, number] => {
    const [x, y, z] = at.map((part, axis) => part - (middle[axis] as number)) as unknown as [
      number,
      number,
      number,
    ];
    const [across, away] = [x * cosY - y * sinY, x * sinY + y * cosY];
    const up = z * cosP - away * sinP;
    return [canvas.width / 2 + across * scale, canvas.height / 2 - up * scale, -(z * sinP + away * cosP)];
  };
  context.lineWidth = 1.5 * ratio;
  for (const { from, to, colour } of scene.lines) {
    const [a, b] = [seen(from), seen(to)];
    context.strokeStyle = colour || theme.muted;
    context.beginPath();
    context.moveTo(a[0], a[1]);
    context.lineTo(b[0], b[1]);
    context.stroke();
  }
  const every = Math.ceil(scene.points.length / MOST);
  const points = scene.points
    .filter((_, i) => i % every === 0)
    .map((point) => ({ point, place: seen(point.at) }))
    .sort((a, b) => a.place[2] - b.place[2]);
  const own = theme.colourOf("var(--accent)");
  for (const { point, place } of points) {
    const { colour } = point;
    context.fillStyle =
      typeof colour === "number"
        ? theme.colourOf(COLOURS[Math.abs(Math.round(colour)) % COLOURS.length] as string)
        : colour || own;
    const size = point.radius * ratio;
    if (point.radius < 2) context.fillRect(place[0] - size, place[1] - size, 2 * size, 2 * size);
    else {
      context.beginPath();
      context.arc(place[0], place[1], size, 0, 2 * Math.PI);
      context.fill();
    }
  }
}

const bounds = new WeakMap<Scene, { middle: Place; radius: number }>();

/** The middle of everything, and how far it reaches from there; worked out once. */
function boundsOf(scene: Scene): { middle: Place; radius: number } {
  const known = bounds.get(scene);
  if (known !== undefined) return known;
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  const take = (at: Place): void => {
    for (let axis = 0; axis < 3; axis++) {
      low[axis] = Math.min(low[axis] as number, at[axis] as number);
      high[axis] = Math.max(high[axis] as number, at[axis] as number);
    }
  };
  for (const { at } of scene.points) take(at);
  for (const { from, to } of scene.lines) {
    take(from);
    take(to);
  }
  const middle = low.map((part, axis) => (part + (high[axis] as number)) / 2) as unknown as Place;
  const radius = Math.hypot(...low.map((part, axis) => ((high[axis] as number) - part) / 2)) || 1;
  const found = { middle, radius };
  bounds.set(scene, found);
  return found;
}
