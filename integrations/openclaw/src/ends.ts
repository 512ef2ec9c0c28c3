import { createHash } from "node:crypto";
import type { AgentContext, HostApi } from "./host.js";
import { agentOf, isGroup, type Agents } from "./agents.js";
import type { Author, Message } from "./kioku.js";
import { channelOf } from "./tools.js";

/** A session as it was after its last turn. */
interface Session {
  agentId: string;
  messages: Message[];
}

/** Most sessions whose messages are remembered until they end. */
const maxSessions = 64;

/** Ends of a session after which it does not go on. */
const ends = new Set(["new", "reset", "idle", "daily", "deleted", "shutdown", "restart", "unknown"]);

/**
 * Hands a conversation that ends, or is about to be compacted, to Kioku: what was not stored of it is flushed by Kioku's model, or kept on
 * disk until there is one. OpenClaw's own flush before a compaction does not always run: it yields to the next message, and may be off.
 */
export function flushAtEnds(api: HostApi, agents: Agents): void {
  if (!agents.settings.onEnd) return;
  const sessions = new Map<string, Session>();
  const stored = new Set<string>();
  const remember = (ctx: AgentContext, messages: unknown[]) => {
    if (!ctx.sessionId) return;
    const before = sessions.get(ctx.sessionId)?.messages ?? [];
    sessions.delete(ctx.sessionId);
    sessions.set(ctx.sessionId, { agentId: agentOf(ctx.agentId, ctx.sessionKey), messages: conversation(messages, before, ctx, agents) });
    if (sessions.size <= maxSessions) return;
    const oldest = sessions.keys().next().value!;
    sessions.delete(oldest);
    api.logger.warn(`kioku: more than ${maxSessions} sessions are open; what session ${oldest} said is not flushed at its end unless it goes on`);
  };
  const underWay = new Map<string, Promise<void>>();
  // One at a time of a session, so that its end does not meet the flush of its compaction.
  const handOver = async (id: string, session: Session) => {
    const own = (underWay.get(id) ?? Promise.resolve()).then(() => send(api, agents, id, session, stored));
    underWay.set(id, own);
    await own;
    if (underWay.get(id) === own) underWay.delete(id);
  };
  api.on("agent_end", (event, ctx) => {
    if (ctx.trigger === "memory" && event.success) conversation(event.messages, [], ctx, agents).forEach((m) => stored.add(m.id));
    while (stored.size > maxStored) stored.delete(stored.values().next().value!);
    if ((ctx.trigger ?? "user") === "user") remember(ctx, event.messages);
  });
  api.on("before_reset", (event, ctx) => {
    if (event.messages?.length) remember(ctx, event.messages);
  });
  api.on("before_compaction", async (event, ctx) => {
    if (event.messages?.length) remember(ctx, event.messages);
    const session = sessions.get(ctx.sessionId ?? "");
    // The hand-over goes on when the compaction no longer waits: its messages are a copy.
    if (session) await atMost(compactionWaitMs, handOver(ctx.sessionId!, session));
  });
  api.on("session_end", async (event) => {
    const session = sessions.get(event.sessionId);
    if (!session || !ends.has(event.reason ?? "unknown")) return;
    sessions.delete(event.sessionId);
    await handOver(event.sessionId, session);
  });
}

/** Most messages that are remembered as stored by OpenClaw's own flush. */
const maxStored = 20_000;

/** How long a compaction waits for a hand-over. */
const compactionWaitMs = 10_000;

/** How long a hand-over may take, with the model that flushes. Kioku has the messages on disk before it asks that model. */
const handOverMs = 300_000;

/** Waits for work that does not fail, but no longer than a time. */
async function atMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}

/** Hands the messages of a session to Kioku, but for those from which OpenClaw's own flush has stored: a fact is stored once. */
async function send(api: HostApi, agents: Agents, session: string, { agentId, messages: all }: Session, stored: Set<string>): Promise<void> {
  const messages = all.filter((m) => !stored.has(m.id));
  if (!agents.enabled(agentId) || !messages.length) return;
  try {
    const { outcome, reason } = await agents.of(agentId).endSession({ session, messages }, AbortSignal.timeout(handOverMs));
    if (outcome === "failed") api.logger.warn(`kioku: a conversation was not flushed: ${reason}`);
  } catch (err) {
    api.logger.warn(`kioku: a conversation was not flushed: ${err instanceof Error ? err.message : String(err)}`);
  }
}

/**
 * Returns what persons and the agent said in a session. Calls of tools and their results are no memories. In a group, messages of a
 * person that were not there before are the sender's of this turn.
 */
function conversation(messages: unknown[], before: Message[], ctx: AgentContext, agents: Agents): Message[] {
  const known = new Map(before.map((m) => [m.id, m]));
  const group = isGroup(ctx.sessionKey);
  const channel = channelOf(ctx.messageProvider ?? ctx.channel, ctx.sessionKey);
  const sender: Author | undefined = group ? { id: ctx.senderId ?? "", isOwner: agents.isOwner(ctx.senderId, ctx.messageProvider ?? ctx.channel) } : undefined;
  const seen = new Map<string, number>();
  return messages.flatMap((raw) => {
    const m = raw as { role?: string; content?: unknown; timestamp?: number };
    const text = spoken(m.content);
    if ((m.role !== "user" && m.role !== "assistant") || !text) return [];
    const id = idOf(m.role, m.timestamp, text, seen);
    return [known.get(id) ?? { id, role: m.role, text, ...(group ? { channel } : {}), ...(sender && m.role === "user" ? { author: sender } : {}) }];
  });
}

/** Returns the text of a message without what OpenClaw and Kioku put before it. */
function spoken(content: unknown): string {
  const parts = Array.isArray(content) ? (content as { type?: string; text?: string }[]) : [{ type: "text", text: String(content ?? "") }];
  const text = parts.map((p) => (p.type === "text" ? (p.text ?? "") : "")).join("\n");
  return text.replace(/### Recalled Memories[\s\S]*?<\/recalled-memories id="\w+">\s*/g, "").trim();
}

/** Returns an id that a message has again when the session is handed over again. */
function idOf(role: string, timestamp: number | undefined, text: string, seen: Map<string, number>): string {
  const hash = createHash("sha256").update(`${role} ${timestamp ?? ""} ${text}`).digest("hex").slice(0, 16);
  const n = seen.get(hash) ?? 0;
  seen.set(hash, n + 1);
  return n ? `${hash}-${n}` : hash;
}
