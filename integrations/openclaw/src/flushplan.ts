import type { FlushPlan, HostConfig } from "./host.js";

/** Defaults of compaction.memoryFlush, those of OpenClaw. */
const softThresholdTokens = 4000;
const forceFlushTranscriptBytes = 2 << 20;
/** Tokens that OpenClaw keeps free for a compaction, and the most of a window that it keeps. */
const reserveTokens = 20_000;
const maxReserveRatio = 0.25;

/**
 * Returns how OpenClaw's agent stores notes before a compaction; null if compaction.memoryFlush.enabled is false. OpenClaw runs that
 * turn with the agent's own model, which appends to the notes of the day; Kioku indexes the file when it changes.
 */
export function flushPlan(params: { cfg?: HostConfig; nowMs?: number; contextWindowTokens?: number }): FlushPlan | null {
  const defaults = params.cfg?.agents?.defaults;
  const flush = defaults?.compaction?.memoryFlush ?? {};
  if (flush.enabled === false) return null;
  const relativePath = `memory/${day(params.nowMs ?? Date.now(), defaults?.userTimezone)}.md`;
  const window = params.contextWindowTokens ?? 0;
  const reserve = window > 0 ? Math.min(reserveTokens, Math.floor(window * maxReserveRatio)) : reserveTokens;
  const soft = flush.softThresholdTokens ?? softThresholdTokens;
  const rules =
    `Store durable facts, decisions, preferences and open tasks only in ${relativePath} (create memory/ if needed). ` +
    "If the file exists, append to it; never change or remove what it says. Leave all other files as they are. " +
    "One bullet a fact, in the language in which it was said, understandable without this conversation.";
  return {
    softThresholdTokens: window > 0 ? Math.min(soft, Math.floor((window - reserve) / 2)) : soft,
    forceFlushTranscriptBytes: bytes(flush.forceFlushTranscriptBytes) ?? forceFlushTranscriptBytes,
    reserveTokensFloor: reserve,
    model: flush.model?.trim() || undefined,
    prompt: `Pre-compaction memory flush. ${rules} If there is nothing to store, reply with NO_REPLY.`,
    systemPrompt: `Pre-compaction memory flush turn: the conversation is about to be compacted, and what is not stored is lost. ${rules} Usually NO_REPLY is the right reply.`,
    relativePath,
  };
}

/** Returns the day of a time, YYYY-MM-DD, in a time zone. */
function day(ms: number, zone: string | undefined): string {
  try {
    return new Intl.DateTimeFormat("sv-SE", { timeZone: zone }).format(ms);
  } catch {
    return new Intl.DateTimeFormat("sv-SE").format(ms); // an unknown zone
  }
}

/** Returns a size such as 2097152, "512kb" or "2mb" in bytes. */
function bytes(size: number | string | undefined): number | undefined {
  if (typeof size === "number") return size >= 0 ? Math.floor(size) : undefined;
  const m = /^\s*(\d+(?:\.\d+)?)\s*(b|kb|k|mb|m|gb|g)?\s*$/i.exec(size ?? "");
  if (!m) return undefined;
  const unit = { k: 1 << 10, m: 1 << 20, g: 1 << 30 }[(m[2] ?? "b")[0]!.toLowerCase()] ?? 1;
  return Math.floor(Number(m[1]) * unit);
}
