// Which samples of the system belong on one chart, and what that is called. Pure.

import { naturalCompare } from "./natural";

export interface SamplePanel {
  readonly id: string;
  readonly section: string;
  readonly title: string;
  /** Sample key -> the name of its line. */
  readonly lines: ReadonlyMap<string, string>;
}

export const SECTIONS = ["GPU", "CPU", "Memory", "Disk", "Network", "Processes", "Other"] as const;

type Place = readonly [section: string, title: string, line: string];

const KNOWN: Readonly<Record<string, Place>> = {
  cpu_percent: ["CPU", "CPU, %", "machine"],
  cpu: ["CPU", "CPU, %", "this run"],
  "cpu.busiest_core": ["CPU", "CPU, %", "busiest core"],
  "proc.cpu.percent": ["CPU", "CPU of the run, % of a core", "this run"],
  "load.1m": ["CPU", "Load average", "1 min"],
  "load.5m": ["CPU", "Load average", "5 min"],
  memory_percent: ["Memory", "Memory, %", "machine"],
  "proc.memory.percent": ["Memory", "Memory, %", "this run"],
  "cgroup.memory_percent": ["Memory", "Memory, %", "of the container's limit"],
  swap_percent: ["Memory", "Memory, %", "swap"],
  "memory.usedMB": ["Memory", "Memory, MiB", "machine"],
  "proc.memory.rssMB": ["Memory", "Memory, MiB", "this run"],
  "cgroup.memory.usedMB": ["Memory", "Memory, MiB", "container"],
  "cgroup.memory.limitMB": ["Memory", "Memory, MiB", "container's limit"],
  "proc.memory.availableMB": ["Memory", "Memory available, MiB", "available"],
  "disk.in_MBps": ["Disk", "Disk traffic, MiB/s", "read"],
  "disk.out_MBps": ["Disk", "Disk traffic, MiB/s", "written"],
  "disk.in": ["Disk", "Disk traffic since the start, MiB", "read"],
  "disk.out": ["Disk", "Disk traffic since the start, MiB", "written"],
  "network.recv_MBps": ["Network", "Network, MiB/s", "received"],
  "network.sent_MBps": ["Network", "Network, MiB/s", "sent"],
  "network.recv": ["Network", "Network since the start, bytes", "received"],
  "network.sent": ["Network", "Network since the start, bytes", "sent"],
  "proc.cpu.threads": ["Processes", "Threads", "threads"],
  "proc.count": ["Processes", "Processes", "processes"],
  "proc.fds": ["Processes", "Open files", "open files"],
};

const GPU: Readonly<Record<string, string>> = {
  gpu: "GPU busy, %",
  memory: "GPU memory access, %",
  memoryAllocated: "GPU memory in use, %",
  memoryAllocatedBytes: "GPU memory in use, bytes",
  temp: "GPU temperature, °C",
  powerWatts: "GPU power, W",
  powerPercent: "GPU power, % of its limit",
  enforcedPowerLimitWatts: "GPU power limit, W",
  smClock: "GPU clock, MHz",
  memoryClock: "GPU memory clock, MHz",
  correctedMemoryErrors: "GPU memory errors, corrected",
  uncorrectedMemoryErrors: "GPU memory errors, not corrected",
  encoderUtilization: "GPU video encoder, %",
};

const DISK: Readonly<Record<string, string>> = {
  usagePercent: "Disk in use, %",
  usageGB: "Disk in use, GiB",
  freeGB: "Disk free, GiB",
};

function placeOf(key: string): Place {
  const name = key.replace(/^system\./, "");
  const known = KNOWN[name];
  if (known) return known;
  const gpu = /^gpu\.(process\.)?(\d+)\.(.+)$/.exec(name);
  if (gpu) {
    const title = GPU[gpu[3] as string] ?? `GPU ${gpu[3]}`;
    return ["GPU", gpu[1] ? `${title}, used by the run` : title, `GPU ${gpu[2]}`];
  }
  const disk = /^disk\.(.+)\.(usagePercent|usageGB|freeGB)$/.exec(name);
  if (disk) return ["Disk", DISK[disk[2] as string] as string, disk[1] as string];
  return ["Other", name, name];
}

/** Return what one sample is called where it stands alone. */
export function sampleName(key: string): string {
  const [, title, line] = placeOf(key);
  return title === line ? title : `${title} · ${line}`;
}

/** Return the panels for keys of samples, in the order of sections. */
export function samplePanels(keys: Iterable<string>): SamplePanel[] {
  const panels = new Map<string, { section: string; title: string; lines: Map<string, string> }>();
  for (const key of [...new Set(keys)].sort(naturalCompare)) {
    const [section, title, line] = placeOf(key);
    const id = `${section} ${title}`;
    const panel = panels.get(id) ?? { section, title, lines: new Map<string, string>() };
    panel.lines.set(key, line);
    panels.set(id, panel);
  }
  const order = (section: string): number => (SECTIONS as readonly string[]).indexOf(section);
  return [...panels]
    .map(([id, panel]) => ({ id, ...panel }))
    .sort(
      (a, b) =>
        order(a.section) - order(b.section) ||
        rank(a.title) - rank(b.title) ||
        naturalCompare(a.title, b.title),
    );
}

/** What people look at first comes first: shares before amounts, sums since the start last. */
function rank(title: string): number {
  if (title.includes("since the start")) return 2;
  return title.endsWith("%") || title.endsWith("/s") ? 0 : 1;
}
