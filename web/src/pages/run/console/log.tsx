// The lines in view of a console of any length. What is scrolled is a bar of limited height; the rows lie over it and
// are chosen by line, so that wrapped lines of any height cost nothing to find.

import type { JSX, Ref } from "preact";
import { useCallback, useImperativeHandle, useLayoutEffect, useRef, useState } from "preact/hooks";
import { watchSize } from "../../../chart/mount";
import type { ConsoleLine } from "../documents";
import { Line } from "./line";
import type { ConsolePages } from "./pages";
import { type Extent, lineAtScroll, scrollForLine, tallOf } from "./scroller";

export interface LogHandle {
  /** Bring a line to the middle. */
  show(line: number): void;
  toEnd(): void;
  focus(): void;
}

export interface LogProps {
  pages: ConsolePages;
  isWrapped: boolean;
  isFollowing: boolean;
  /** A person scrolled: away from the end, or to it. */
  onFollow: (isFollowing: boolean) => void;
  current: number | null;
  pattern: RegExp | null;
  whoOf: (line: ConsoleLine) => string | null;
  onTime: (line: ConsoleLine) => void;
  handle: Ref<LogHandle>;
}

export const ROW = 19;
const MORE = 6;
/** So few lines are all in the document: the browser scrolls and finds them itself. */
const FEW = 400;

export function Log(props: LogProps): JSX.Element {
  const { pages, isWrapped, isFollowing, onFollow, current } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState(0);
  const [top, setTop] = useState(0);
  /** Where we scrolled to ourselves: not a wish of the reader. */
  const ours = useRef<number | null>(null);
  const total = pages.total.value ?? 0;
  void pages.beat.value;
  const extent: Extent = { total, rowHeight: ROW, view };
  const tall = tallOf(extent);
  const first = Math.max(0, Math.floor(top));
  const visible = Math.ceil(view / ROW) + 1;
  const isFew = total <= FEW;
  // At the end of wrapped lines the last one stands at the bottom.
  const isAtEnd = isFollowing || (total > 0 && first + visible > total);
  const isHung = !isFew && isWrapped && isAtEnd;
  const start = isFew ? 0 : isHung ? Math.max(0, total - visible) : first;
  const stop = isFew ? total : Math.min(total, start + visible + (isAtEnd ? 0 : MORE));

  const scrollTo = useCallback((to: number) => {
    const element = scroller.current;
    if (element === null) return;
    element.scrollTop = to;
    ours.current = element.scrollTop;
  }, []);

  useLayoutEffect(() => {
    if (scroller.current === null) return;
    return watchSize(scroller.current, ({ contentRect }) => setView(contentRect.height));
  }, []);
  useLayoutEffect(() => {
    if (!isFollowing || view === 0) return;
    scrollTo(isFew ? (scroller.current?.scrollHeight ?? 0) : tall);
    setTop(lineAtScroll(extent, tall));
  }, [isFollowing, total, view, tall, pages.beat.value]);
  useLayoutEffect(() => {
    if (view > 0) pages.show(Math.max(0, start - visible), Math.max(0, stop + visible));
  }, [pages, start, stop, visible, view]);
  useImperativeHandle(
    props.handle,
    () => ({
      show: (line) => {
        if (isFew) {
          scroller.current?.querySelector(`[data-line="${line}"]`)?.scrollIntoView({ block: "center" });
          return;
        }
        const to = scrollForLine(extent, Math.max(0, line - Math.floor(visible / 3)));
        scrollTo(to);
        setTop(lineAtScroll(extent, to));
      },
      toEnd: () => scrollTo(tall),
      focus: () => scroller.current?.focus(),
    }),
    [total, view, visible, tall, scrollTo, isFew],
  );
  const onScroll = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const at = element.scrollTop;
    setTop(lineAtScroll(extent, at));
    const isOurs = ours.current !== null && Math.abs(at - ours.current) < 2;
    ours.current = null;
    if (!isOurs) onFollow(at + element.clientHeight >= element.scrollHeight - 2);
  };
  const rows: JSX.Element[] = [];
  for (let index = start; index < stop; index++) {
    const line = pages.line(index);
    rows.push(
      line === undefined ? (
        <div key={index} class="log-line log-absent" data-line={index}>
          <span class="log-number">{index + 1}</span>
        </div>
      ) : (
        <Line
          key={index}
          line={line}
          lane={pages.lane(line)}
          who={props.whoOf(line)}
          pattern={props.pattern}
          isCurrent={current === index}
          onTime={props.onTime}
        />
      ),
    );
  }
  const shift = isHung ? 0 : -(top - first) * ROW;
  return (
    <div
      ref={scroller}
      class={`log${isWrapped ? " log-wrapped" : ""}`}
      role="log"
      aria-live="off"
      aria-label="Console"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with keys
      tabIndex={0}
      onScroll={onScroll}
    >
      {isFew ? (
        <div class="log-few">{rows}</div>
      ) : (
        <div class="log-tall" style={{ height: `${Math.max(tall, view)}px` }}>
          <div class={`log-rows${isHung ? " log-rows-end" : ""}`} style={{ height: `${view}px` }}>
            <div class="log-shift" style={{ transform: `translateY(${shift}px)` }}>
              {rows}
            </div>
          </div>
        </div>
      )}
    </div>
  );
}
