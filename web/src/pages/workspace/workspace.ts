// The model of the page: the view, and what the server knows about it, each as signals. Components read them; nothing here
// draws. One effect per question keeps the answers up to what the view asks.

import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { place } from "../../app/navigation";
import { mongoText, toMongo } from "../../filter/mongo";
import { type FilterProblem, parseFilter } from "../../filter/parse";
import { DigestStore } from "../../runs/digests";
import { pathOf } from "../../runs/path";
import { staleSince } from "../../runs/stale";
import { tellingKey } from "../../runs/telling";
import { naturalCompare } from "../../series/natural";
import { COLOURS, DASHES, runStyles } from "../../series/palette";
import { returns } from "../../server/client";
import { type Listener, type Watch, watch } from "../../server/live";
import type { RunItem } from "../../server/types";
import type { RunsView, ViewPatch } from "../../view/state";
import { type ChangeOptions, ViewAddress } from "./data/address";
import { columnOf } from "./data/column";
import { CurveStore } from "./data/curves";
import {
  baselineRun,
  type Drawn,
  drawnGroups,
  drawnRuns,
  groupId,
  isGroupId,
  listed,
  MOST_DRAWN,
} from "./data/drawn";
import { GroupSource } from "./data/group-source";
import { KeySource } from "./data/keys";
import type { DrawnStyle } from "./data/lines";
import { News } from "./data/news";
import { RunSource } from "./data/run-source";
import { groupText } from "./list/rows";

const LATE_MS = 15_000;

export class Workspace {
  readonly address = new ViewAddress();
  readonly view = this.address.view;
  readonly runs: RunSource;
  /** Runs that are meant by name: pinned, baseline, the only ones shown. */
  readonly named: RunSource;
  readonly groups: GroupSource;
  readonly keys = new KeySource();
  readonly curves = new CurveStore();
  readonly digests = new DigestStore();
  /** The run that keys act on, in the list. */
  readonly cursor = signal<string | null>(null);
  /** Since when (ms) nothing comes from the server; null while it does. */
  readonly brokenSince = signal<number | null>(null);
  readonly now = signal(Date.now());
  /** On a phone: which side is shown. */
  readonly side = signal<"runs" | "charts">("charts");

  readonly #ends: (() => void)[] = [];
  readonly #news = new News(this);

  constructor(
    readonly entity: string,
    readonly project: string,
  ) {
    this.runs = new RunSource(entity, project);
    this.named = new RunSource(entity, project);
    this.groups = new GroupSource(entity, project);
  }

  /** Listen to what happens, also to new points of keys. */
  listen(keys: readonly string[], listener: Listener): Watch {
    return watch({ projects: [`${this.entity}/${this.project}`], keys }, listener);
  }

  change(patch: ViewPatch, options?: ChangeOptions): void {
    this.address.change(patch, options);
  }

  changeRuns(runs: Partial<RunsView>, options?: ChangeOptions): void {
    this.change({ runs }, options);
  }

  showCharts(): void {
    this.side.value = "charts";
  }

  // --- what follows from the view and the answers

  readonly #filter = computed(() => parseFilter(this.view.value.runs.filter));
  readonly filterProblem: ReadonlySignal<FilterProblem | null> = computed(() => {
    const parsed = this.#filter.value;
    return parsed.ok ? null : parsed.problem;
  });
  /** The last filter that could be read, as JSON: half a word typed does not empty the list. */
  #lastFilter = "";
  readonly filterText = computed(() => {
    const parsed = this.#filter.value;
    if (parsed.ok) this.#lastFilter = parsed.condition === null ? "" : mongoText(toMongo(parsed.condition));
    return this.#lastFilter;
  });

  readonly sparkKey = computed(
    () => this.view.value.runs.sparkline ?? tellingKey(this.keys.keys.value.names),
  );

  /** The columns that are shown: chosen, or the last value of the key that is drawn small. */
  readonly columns = computed(() => {
    const chosen = this.view.value.runs.columns;
    if (chosen.length > 0) return chosen;
    return this.sparkKey.value === null ? [] : [`summary.${this.sparkKey.value}`];
  });

  /** The fields that the list of runs is asked for. */
  readonly #fields = computed(() => {
    const fields = new Set<string>();
    for (const column of this.columns.value) {
      const { field } = columnOf(column);
      if (field !== null) fields.add(field);
    }
    return [...fields].sort();
  });

  /** Runs that are meant by name and not on the pages that are here. */
  readonly #absent = computed(() => {
    const { runs } = this.view.value;
    const wanted = new Set([...runs.pinned, ...runs.shownOnly.filter((id) => !id.includes(":"))]);
    const baseline = baselineRun(runs);
    if (baseline) wanted.add(baseline);
    return [...wanted].sort();
  });

  readonly isGrouped = computed(() => this.view.value.runs.group.length > 0);

  /** The runs of the list in its order, pinned ones first. */
  readonly listed = computed(() =>
    listed(this.runs.rows.value, this.named.rows.value, this.view.value.runs.pinned),
  );

  readonly drawn = computed<Drawn>(() => {
    const { runs } = this.view.value;
    if (!this.isGrouped.value) {
      return drawnRuns(this.runs.rows.value, this.named.rows.value, runs, this.runs.total.value);
    }
    return drawnGroups(this.groups.groups.value, (group) => this.groups.members(group.key).rows.value, runs);
  });

  /** Paths of the drawn runs; the same array as long as they are the same. */
  readonly drawnPaths = stable(() => this.drawn.value.runs.map(pathOf));

  /** How each drawn run looks, by path; the same map as long as all look the same. */
  readonly styles = (() => {
    let before: { name: string; styles: ReadonlyMap<string, DrawnStyle> } | null = null;
    return computed(() => {
      const { runs } = this.drawn.value;
      const looks = runStyles(runs.map((run) => run.id));
      const styles = runs.map((run): [string, DrawnStyle] => {
        const look = looks.get(run.id);
        return [
          pathOf(run),
          { id: run.id, label: run.name, colour: look?.colour ?? "", dash: look?.dash ?? [] },
        ];
      });
      const name = JSON.stringify(styles);
      if (before?.name !== name) before = { name, styles: new Map(styles) };
      return before.styles;
    });
  })();

  /** How each group looks, by its id: colours in the order of their values, so that few groups never share one. */
  readonly groupStyles = computed(() => {
    const groups = [...this.groups.groups.value].map((group) => ({
      id: groupId(group.key),
      label: group.values.map(groupText).join(", "),
    }));
    groups.sort((a, b) => naturalCompare(a.label, b.label) || (a.id < b.id ? -1 : 1));
    return new Map(
      groups.map(({ id, label }, place): [string, DrawnStyle] => {
        const colour = COLOURS[place % COLOURS.length] as string;
        const dash = DASHES[Math.floor(place / COLOURS.length) % DASHES.length] ?? [];
        return [id, { id, label, colour, dash }];
      }),
    );
  });

  /** What others are compared with: the path of a run, or the id of a group. */
  readonly baseline = computed(() => {
    const { baseline } = this.view.value.runs;
    if (baseline === null || isGroupId(baseline)) return baseline;
    return `${this.entity}/${this.project}/${baseline}`;
  });

  /** The group that others are compared with, once it is here. */
  readonly baselineGroup = computed(() => {
    const { baseline } = this.view.value.runs;
    return this.groups.groups.value.find((group) => groupId(group.key) === baseline);
  });

  find(id: string): RunItem | undefined {
    const sources = [this.runs, this.named, ...this.groups.open];
    for (const source of sources) {
      const found = source.find(id);
      if (found) return found;
    }
    return undefined;
  }

  // --- life

  /** Ask for what the view needs, now and whenever it changes; returns what ends it. */
  start(): () => void {
    const follow = (run: () => void): void => {
      this.#ends.push(effect(run));
    };
    follow(() => {
      const { path, search } = place.value;
      this.address.follow(path, search);
    });
    follow(() => {
      const { sort } = this.view.value.runs;
      this.runs.ask({ filter: this.filterText.value, sort, columns: this.#fields.value });
    });
    follow(() => {
      const ids = this.#absent.value;
      const { sort } = this.view.value.runs;
      const columns = this.#fields.value;
      if (ids.length === 0) this.named.rows.value = [];
      else this.named.ask({ filter: JSON.stringify({ id: { $in: ids } }), sort, columns });
    });
    follow(() => {
      const { group, sort } = this.view.value.runs;
      this.groups.ask({ filter: this.filterText.value, by: group, sort, columns: this.#fields.value });
    });
    follow(() => {
      // A group that is compared with may be on any page of groups.
      const { baseline } = this.view.value.runs;
      if (baseline === null || !isGroupId(baseline) || !this.groups.hasMore.value) return;
      if (this.baselineGroup.value === undefined) this.groups.more();
    });
    follow(() => {
      const paths = this.drawnPaths.value;
      // Without any, the names of before stay: a filter that is being typed may fit nothing for a moment.
      if (paths.length > 0) this.keys.ask(paths);
    });
    follow(() => {
      // All that is to be drawn has to be here.
      const { runs } = this.view.value;
      const { groups } = this.drawn.value;
      if (groups === null && (runs.draw === 0 || runs.draw > this.runs.rows.value.length)) {
        this.runs.fillUpTo(runs.draw || MOST_DRAWN);
      }
      for (const one of groups ?? []) {
        this.groups.members(one.group.key).fillUpTo(MOST_DRAWN);
      }
    });
    follow(() => {
      void this.keys.keys.value;
      this.#news.watchSoon();
    });
    let isFirst = true;
    follow(() => {
      void returns.value; // a lost server is back: what is shown may be old
      if (!isFirst) this.reload();
      isFirst = false;
    });
    const clock = setInterval(() => {
      this.now.value = Date.now();
      // Signs of life alone are no news: before a run is called stale for long, it is looked at again.
      const isStale = this.runs.rows.peek().some((run) => staleSince(run, Date.now()) !== null);
      if (isStale && !document.hidden) this.#news.lookSoon();
    }, 5000);
    const late = setInterval(() => this.#news.compare(), LATE_MS);
    return () => {
      for (const end of this.#ends) end();
      clearInterval(clock);
      clearInterval(late);
      this.#news.stop();
      this.runs.stop();
      this.named.stop();
      this.groups.stop();
      this.curves.stop();
      this.address.write(true);
    };
  }

  reload(): void {
    void this.runs.refresh();
    this.groups.reload();
    this.keys.reload();
    this.curves.refresh(null);
  }
}

/** A computed list that stays the same array while its texts are the same. */
function stable(compute: () => readonly string[]): ReadonlySignal<readonly string[]> {
  let before: readonly string[] = [];
  return computed(() => {
    const now = compute();
    if (now.length !== before.length || now.some((text, i) => text !== before[i])) before = now;
    return before;
  });
}

export const WorkspaceContext = createContext<Workspace | null>(null);

export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (workspace === null) throw new Error("outside of a workspace");
  return workspace;
}
