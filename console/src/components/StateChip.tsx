import type { Job_StateJson } from "proto/ml/v1/ml_pb";
import "./StateChip.css";

const LOOKS: Record<string, { readonly sign: string; readonly tone: string; readonly word: string }> = {
  QUEUED: { sign: "◷", tone: "wait", word: "Queued" },
  PREPARING: { sign: "◔", tone: "wait", word: "Preparing" },
  RUNNING: { sign: "▶", tone: "run", word: "Running" },
  SUCCEEDED: { sign: "✓", tone: "good", word: "Succeeded" },
  FAILED: { sign: "✕", tone: "bad", word: "Failed" },
  CANCELLING: { sign: "◌", tone: "wait", word: "Cancelling" },
  CANCELLED: { sign: "⊘", tone: "off", word: "Cancelled" },
  REQUESTED: { sign: "◷", tone: "wait", word: "Requested" },
  ACTIVE: { sign: "▶", tone: "run", word: "Active" },
  STOPPING: { sign: "◌", tone: "wait", word: "Stopping" },
  COMPLETED: { sign: "✓", tone: "good", word: "Completed" },
  INFEASIBLE: { sign: "✕", tone: "bad", word: "Infeasible" },
  STOPPED_EARLY: { sign: "◼", tone: "off", word: "Stopped early" },
  INACTIVE: { sign: "⊘", tone: "off", word: "Inactive" },
};

/** A job's or a trial's state: never by colour alone. */
export function StateChip({ state }: { readonly state: Job_StateJson | string | undefined }) {
  const look = LOOKS[state ?? ""] ?? { sign: "?", tone: "off", word: state ?? "Unknown" };
  return (
    <span class={`state ${look.tone}`}>
      <span aria-hidden="true">{look.sign}</span> {look.word}
    </span>
  );
}

export function stateWord(state: string): string {
  return LOOKS[state]?.word ?? state;
}
