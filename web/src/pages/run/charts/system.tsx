// The machine while the run went on: samples by kind, one line per device and sampler, all over the same time; a metric
// of the run can be laid beside them.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { naturalCompare } from "../../../series/natural";
import { SECTIONS, samplePanels } from "../../../series/samples";
import { Select } from "../../../ui/field";
import { EmptyState } from "../../../ui/note";
import { Segments } from "../../../ui/tabs";
import type { Zoom } from "../../../view/state";
import { useRun } from "../model";
import { useParam } from "../params";
import { SamplePanelView, type Who } from "./sample-panel";
import { COLOUR_BY, hostsOf, lanesOf, ranksOf, rankTitle } from "./samplers";
import "./charts.css";

const AXES = [
  { value: "", title: "Wall time" },
  { value: "relative", title: "Since start" },
] as const;

export function System(): JSX.Element {
  const model = useRun();
  const [axisText, setAxis] = useParam("x");
  const [beside, setBeside] = useParam("with");
  const [zoom, setZoom] = useState<Zoom | null>(null);
  const keys = model.keys.value;
  const samples = useMemo(() => (keys ?? []).filter((one) => one.lane !== ""), [keys]);
  const panels = useMemo(() => samplePanels(samples.map((one) => one.key)), [samples]);
  const metrics = useMemo(
    () =>
      (keys ?? [])
        .filter((one) => one.lane === "" && one.has_points)
        .map((one) => one.key)
        .sort(naturalCompare),
    [keys],
  );
  const samplers = model.samplers.value;
  const hosts = useMemo(() => hostsOf(samplers), [samplers]);
  const ranks = useMemo(() => ranksOf(samplers), [samplers]);
  const [host, setHost] = useParam("host");
  const [rank, setRank] = useParam("rank");
  const [colourText, setColour] = useParam("colour", "device");
  const who = useMemo<Who>(
    () => ({
      samplers,
      lanes: lanesOf(samplers, { host, rank }),
      colourBy: COLOUR_BY.find((one) => one === colourText) ?? "device",
    }),
    [samplers, host, rank, colourText],
  );
  const axis = axisText === "relative" ? "relative" : "wall";
  if (keys === null) return <div aria-busy="true" />;
  if (panels.length === 0) {
    return (
      <EmptyState title="No samples of the system" icon="monitor">
        <p>
          {model.isRunning
            ? "The first comes a moment after the start, then one every 15 seconds (stats_interval_s)."
            : "The run ended before the first sample, or it ran with the setting stats or agent off."}
        </p>
      </EmptyState>
    );
  }
  const own = metrics.includes(beside) ? beside : "";
  return (
    <>
      <div class="run-bar">
        <Segments
          label="X axis"
          options={AXES}
          value={axisText === "relative" ? "relative" : ""}
          onChange={(next) => {
            setZoom(null);
            setAxis(next);
          }}
        />
        {metrics.length > 0 && (
          <Select
            label="Metric beside"
            value={own}
            options={[
              { value: "", title: "No metric beside" },
              ...metrics.map((key) => ({ value: key, title: `Beside: ${key}` })),
            ]}
            onChange={setBeside}
          />
        )}
        {hosts.length > 1 && (
          <Select
            label="Host"
            value={host}
            options={[
              { value: "", title: `All ${hosts.length} hosts` },
              ...hosts.map((one) => ({ value: one, title: one || "unknown host" })),
            ]}
            onChange={setHost}
          />
        )}
        {ranks.length > 1 && (
          <Select
            label="Rank"
            value={rank}
            options={[
              { value: "", title: `All ${ranks.length} ranks` },
              ...ranks.map((one) => ({ value: one, title: rankTitle(one) })),
            ]}
            onChange={setRank}
          />
        )}
        {(hosts.length > 1 || ranks.length > 1) && (
          <Select
            label="Colours tell apart"
            value={who.colourBy}
            options={COLOUR_BY.map((one) => ({ value: one, title: `Colour by ${one}` }))}
            onChange={setColour}
          />
        )}
      </div>
      {own !== "" && (
        <div class="system-beside">
          <SamplePanelView
            title={own}
            lines={new Map([[own, model.run.value?.name ?? own]])}
            isSystem={false}
            axis={axis}
            zoom={zoom}
            onZoom={setZoom}
          />
        </div>
      )}
      {SECTIONS.map((section) => {
        const some = panels.filter((panel) => panel.section === section);
        if (some.length === 0) return null;
        return (
          <section key={section} class="system-section" aria-label={section}>
            <h2>{section}</h2>
            <div class="system-grid">
              {some.map((panel) => (
                <SamplePanelView
                  key={panel.id}
                  title={panel.title}
                  lines={panel.lines}
                  isSystem
                  who={who}
                  axis={axis}
                  zoom={zoom}
                  onZoom={setZoom}
                />
              ))}
            </div>
          </section>
        );
      })}
    </>
  );
}
