import type { MachineReportJson } from "proto/control/v1/machine_pb";
import type { UsageReport_MachineJson } from "proto/control/v1/usage_pb";
import { bytes, num, number, percent } from "../text/format.ts";
import { diskName, roomWords } from "../text/machine_words.ts";
import { Meter } from "./Meter.tsx";
import { Text } from "./Text.tsx";
import "./MachineFigures.css";

interface Props {
  readonly machine: MachineReportJson;
  /** What of it jobs hold. */
  readonly held: UsageReport_MachineJson | undefined;
}

interface Figure {
  readonly name: string;
  readonly big: string;
  readonly share: number;
  readonly scarce: boolean;
  readonly rest: string;
}

/** The machine now: each of what it has, how much of it is in use, how much jobs hold. */
export function MachineFigures({ machine, held }: Props) {
  return (
    <div class="machine-figures">
      {figuresOf(machine, held).map((figure) => (
        <div key={figure.name} class="figure">
          <span class="name">
            <Text value={figure.name} longest={80} class="soft" />
            <span class="big">{figure.big}</span>
          </span>
          <Meter label={figure.name} share={figure.share} scarce={figure.scarce} />
          <span class="soft">
            <Text value={figure.rest} longest={200} />
          </span>
        </div>
      ))}
    </div>
  );
}

function figuresOf(machine: MachineReportJson, held: UsageReport_MachineJson | undefined): Figure[] {
  const cpu = Number(machine.cpuUtilization ?? 0);
  const memory = num(machine.memoryBytes);
  const used = num(machine.memoryBytesUsed);
  const figures: Figure[] = [
    {
      name: "CPUs",
      big: `${percent(cpu)} in use`,
      share: cpu,
      scarce: false,
      rest: roomWords(Number(machine.cpus ?? 0), held && Number(held.cpusHeld ?? 0), number),
    },
    {
      name: "Memory",
      big: `${bytes(used)} in use`,
      share: memory > 0 ? used / memory : 0,
      scarce: true,
      rest: roomWords(memory, held && num(held.memoryBytesHeld), bytes),
    },
  ];
  for (const disk of machine.disks ?? []) {
    const [all, free] = [num(disk.bytes), num(disk.bytesFree)];
    figures.push({
      name: diskName(disk),
      big: `${bytes(free)} free`,
      share: all > 0 ? 1 - free / all : 0,
      scarce: true,
      rest: `of ${bytes(all)}${disk.path ? ` at ${disk.path}` : ""}`,
    });
  }
  const devices = held?.devices ?? [];
  for (const [at, gpu] of (machine.gpus ?? []).entries()) {
    const holder =
      devices.find((device) => device.index === gpu.id) ?? (devices.length === machine.gpus?.length ? devices[at] : undefined);
    const share = Number(gpu.utilization ?? 0);
    figures.push({
      name: `GPU ${gpu.id ?? at}`,
      big: percent(share),
      share,
      scarce: false,
      rest: [
        gpu.type,
        `${bytes(num(gpu.memoryBytes))} of ${bytes(num(gpu.memoryTotalBytes))}`,
        holder?.jobId ? `held by ${holder.jobId}` : "free",
      ]
        .filter(Boolean)
        .join("; "),
    });
  }
  return figures;
}
