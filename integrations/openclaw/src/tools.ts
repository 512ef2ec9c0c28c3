import type { HostConfig, Tool, ToolContext, ToolResult } from "./host.js";
import { agentOf, isGroup, type Agents } from "./agents.js";
import { hits, read } from "./hits.js";
import type { Kioku } from "./kioku.js";

/** The parameters of memory_search, by the names that OpenClaw's agents know. */
const searchParameters = {
  type: "object",
  properties: {
    query: { type: "string" },
    maxResults: { type: "integer", minimum: 1 },
    minScore: { type: "number" },
    corpus: { type: "string", enum: ["memory", "wiki", "all", "sessions"] },
  },
  required: ["query"],
  additionalProperties: false,
};

/** The parameters of memory_get. */
const getParameters = {
  type: "object",
  properties: {
    path: { type: "string" },
    from: { type: "integer", minimum: 1 },
    lines: { type: "integer", minimum: 1 },
    corpus: { type: "string", enum: ["memory", "wiki", "all"] },
  },
  required: ["path"],
  additionalProperties: false,
};

/** The parameters of memory_append. */
const appendParameters = {
  type: "object",
  properties: {
    text: { type: "string" },
    category: { type: "string", description: "One word, such as decision, preference or task." },
    target: { type: "string", enum: ["daily", "long_term"], description: "daily: today's notes (default). long_term: MEMORY.md." },
  },
  required: ["text"],
  additionalProperties: false,
};

/** Where tools come from: the memory of the agent that they are for, and who speaks with it. */
interface Bound {
  ctx: ToolContext;
  agents: Agents;
  memory(): Kioku;
}

/** Returns memory_search of an agent; null if its memory is off. */
export function searchTool(agents: Agents, ctx: ToolContext): Tool | null {
  return tool(agents, ctx, {
    name: "memory_search",
    label: "Memory Search",
    description:
      "Search long-term memory (MEMORY.md, USER.md, Markdown under memory/, extra paths) by meaning and keywords. Use it before answering about earlier work, " +
      "decisions, dates, people, preferences or todos. Returns passages with path and lines; read more around one with memory_get. A warning says what the search lacked: tell the user.",
    parameters: searchParameters,
    run: search,
  });
}

/** Returns memory_get of an agent; null if its memory is off. */
export function getTool(agents: Agents, ctx: ToolContext): Tool | null {
  return tool(agents, ctx, {
    name: "memory_get",
    label: "Memory Get",
    description:
      "Read lines of a memory file, by the path that memory_search gave. Without lines it returns a bounded excerpt; nextFrom says where it goes on. " +
      "status: ok, not_found (no such file) or error (the read failed; memory is not off).",
    parameters: getParameters,
    run: get,
  });
}

/** Returns memory_append of an agent; null if its memory is off. */
export function appendTool(agents: Agents, ctx: ToolContext): Tool | null {
  return tool(agents, ctx, {
    name: "memory_append",
    label: "Memory Append",
    description:
      "Remember something for later conversations: a fact, decision, preference or open task, in a sentence or two that can be understood without this conversation. " +
      "It is dated and added to today's notes; nothing is overwritten, and the same text is stored once.",
    parameters: appendParameters,
    run: append,
  });
}

/** Makes a tool. What goes wrong is a result that says what to do, not an exception. */
function tool(
  agents: Agents,
  ctx: ToolContext,
  t: Omit<Tool, "execute"> & { run(b: Bound, callId: string, params: Record<string, unknown>, signal?: AbortSignal): Promise<unknown> },
): Tool | null {
  const agentId = agentOf(ctx.agentId, ctx.sessionKey);
  if (!agents.enabled(agentId)) return null;
  const bound = { ctx, agents, memory: () => agents.of(agentId) };
  const { run, ...about } = t;
  return {
    ...about,
    async execute(callId, params, signal) {
      return result(await run(bound, callId, (params ?? {}) as Record<string, unknown>, signal));
    },
  };
}

/** Returns a result as text for the model and as an object. */
function result(details: unknown): ToolResult {
  return { content: [{ type: "text", text: JSON.stringify(details, null, 2) }], details };
}

/** Returns the message of an error. */
function reason(err: unknown): string {
  return err instanceof Error ? err.message : String(err);
}

/** Runs memory_search. */
async function search({ ctx, agents, memory }: Bound, _: string, params: Record<string, unknown>, signal?: AbortSignal): Promise<unknown> {
  const corpus = oneOf(params, "corpus", ["memory", "wiki", "all", "sessions"]);
  if (corpus === "sessions")
    return unavailable("session transcripts are not in this memory", "Use sessions_search for what was said in earlier sessions.");
  const corpora = corpus === "wiki" || corpus === "all" ? { corpora: [{ corpus: "wiki", outcome: "not-registered" }] } : {};
  if (corpus === "wiki") return { results: [], ...corpora, warning: "Wiki corpus is not registered; results do not cover that requested corpus." };
  const query = { query: text(params, "query"), maxResults: number(params, "maxResults"), minScore: number(params, "minScore") };
  try {
    const started = Date.now();
    const answer = await memory().search(query, signal);
    const cited = citations(agents.config(), ctx.sessionKey);
    const warning = answer.degraded.map((d) => d.text).join("; ");
    return {
      results: hits(answer).map(({ citation, ...hit }) => ({
        ...hit,
        corpus: hit.source,
        ...(cited ? { citation, snippet: `${hit.snippet.trimEnd()}\n\nSource: ${citation}` } : {}),
      })),
      provider: answer.provider || "none",
      model: answer.model,
      citations: agents.config().memory?.citations ?? "auto",
      mode: answer.mode,
      ...corpora,
      ...(warning ? { warning } : {}),
      debug: { backend: "kioku", effectiveMode: answer.mode, hits: answer.results.length, searchMs: Date.now() - started },
    };
  } catch (err) {
    if (signal?.aborted) throw err;
    return unavailable(reason(err), "Run openclaw memory status and do what it says, then retry memory_search.");
  }
}

/** Returns the answer of a search that could not be made. */
function unavailable(error: string, action: string): unknown {
  const warning = `Memory search is unavailable: ${error}`;
  return { results: [], disabled: true, unavailable: true, error, warning, action, debug: { warning, action, error } };
}

/** Runs memory_get. */
async function get({ memory }: Bound, _: string, params: Record<string, unknown>, signal?: AbortSignal): Promise<unknown> {
  const path = text(params, "path");
  const corpus = oneOf(params, "corpus", ["memory", "wiki", "all"]);
  if (corpus === "wiki") return { status: "not_found", path, text: "", corpora: [{ corpus: "wiki", outcome: "not-registered" }] };
  const [from, lines] = [number(params, "from"), number(params, "lines")];
  try {
    return await read(memory(), path, from, lines, signal);
  } catch (err) {
    if (signal?.aborted) throw err;
    return { path, text: "", status: "error", code: (err as { code?: string }).code ?? "MEMORY_READ_FAILED", error: reason(err) };
  }
}

/** Runs memory_append. */
async function append({ ctx, memory }: Bound, callId: string, params: Record<string, unknown>, signal?: AbortSignal): Promise<unknown> {
  const note = { text: text(params, "text"), category: optional(params, "category"), target: oneOf(params, "target", ["daily", "long_term"]) };
  const author = ctx.requesterSenderId ? { id: ctx.requesterSenderId, isOwner: ctx.senderIsOwner === true } : undefined;
  const channel = isGroup(ctx.sessionKey) ? channelOf(ctx.messageChannel, ctx.sessionKey) : undefined;
  const origin = author || channel ? { channel, authors: author && [author] } : undefined;
  try {
    return { status: "ok", ...(await memory().append({ ...note, origin, idempotency_key: `openclaw ${ctx.sessionId ?? ""} ${callId}` }, signal)) };
  } catch (err) {
    if (signal?.aborted) throw err;
    return { status: "error", error: reason(err), action: "The note was not stored. Say so, or store it with the write tool." };
  }
}

/** Returns the name of a channel: discord:general of agent:main:discord:channel:general. */
export function channelOf(provider: string | undefined, sessionKey: string | undefined): string {
  const parts = (sessionKey ?? "").split(":");
  const room = parts.slice(2).findIndex((p) => p === "group" || p === "channel");
  const name = room < 0 ? "" : parts.slice(room + 3).join(":");
  return [provider || parts[2] || "openclaw", name].filter(Boolean).join(":");
}

/** Returns whether results name their source: by memory.citations, else in conversations of two. */
function citations(cfg: HostConfig, sessionKey: string | undefined): boolean {
  const mode = cfg.memory?.citations ?? "auto";
  return mode === "on" || (mode === "auto" && !isGroup(sessionKey));
}

/** Returns a text that has to be there. */
function text(params: Record<string, unknown>, name: string): string {
  const value = optional(params, name)?.trim();
  if (!value) throw new Error(`${name} required`);
  return value;
}

/** Returns a text that may be missing. */
function optional(params: Record<string, unknown>, name: string): string | undefined {
  const value = params[name];
  return typeof value === "string" ? value : undefined;
}

/** Returns a number that may be missing; models also write them as text. */
function number(params: Record<string, unknown>, name: string): number | undefined {
  const value = params[name];
  if (value === undefined || value === null || value === "") return undefined;
  const n = Number(value);
  if (!Number.isFinite(n)) throw new Error(`${name} must be a number`);
  return n;
}

/** Returns one of several texts; undefined if it is missing. */
function oneOf(params: Record<string, unknown>, name: string, allowed: string[]): string | undefined {
  const value = optional(params, name);
  if (value !== undefined && !allowed.includes(value)) throw new Error(`${name} must be one of: ${allowed.join(", ")}`);
  return value;
}
