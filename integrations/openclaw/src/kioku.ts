import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { request as plain, type IncomingMessage, type RequestOptions } from "node:http";
import { request as secure } from "node:https";

/** Where an agent's memory is served. */
interface Address {
  /** Id of the agent in Kioku. */
  agent: string;
  /** Unix socket; empty if base has host and port. */
  socket: string;
  /** Base of the URL. */
  base: URL;
}

/** How to reach or start the daemon of an agent. */
export interface Access {
  /** Id of the agent in Kioku. */
  agent: string;
  /** Folder of its notes. */
  workspace: string;
  /** Program that finds or starts the daemon. */
  command: string;
  /** Settings for a daemon that is started. */
  env: Record<string, string>;
  /** Address of a running service; empty to find or start one. */
  address: string;
  /** Token for that address. */
  token: string;
}

/** An error that the service answered. code is its kind, such as NOT_FOUND. */
export class ServiceError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** One passage, as Kioku returns it. */
export interface Passage {
  path: string;
  startLine: number;
  endLine: number;
  score: number;
  vectorScore: number;
  textScore: number;
  snippet: string;
  citation: string;
}

/** The answer of a search. */
export interface Answer {
  results: Passage[];
  provider: string;
  model: string;
  mode: string;
  degraded: { code: string; text: string }[];
}

/** Who said something. */
export interface Author {
  id: string;
  name?: string;
  isOwner: boolean;
}

/** Lines of a note. */
export interface Note {
  path: string;
  text: string;
  from: number;
  lines: number;
  truncated: boolean;
  nextLine: number;
}

/** One message of a conversation. */
export interface Message {
  id: string;
  role: "user" | "assistant";
  text: string;
  author?: Author;
  channel?: string;
}

/** What the status of a memory says, as far as it is used. */
export interface Status {
  workspace: string;
  sizes: { path: string };
  index: { fileCount: number; chunkCount: number; pendingFileCount: number };
  space: { provider: string; model: string; dims?: number };
  provider_reason?: string;
  health: { healthy: boolean; error?: string };
  cached: number;
  version: string;
}

/**
 * The memory of one agent, over HTTP and JSON. The daemon is found or started by "kioku join" before the first call, and again when a
 * call finds it gone: one in the background ends some minutes after its last client. All methods may be called concurrently.
 */
export class Kioku {
  private address: Promise<Address> | undefined;

  constructor(private readonly access: Access) {}

  /** Returns passages for a query, best first. */
  async search(query: { query: string; maxResults?: number; minScore?: number }, signal?: AbortSignal): Promise<Answer> {
    if (this.isNew()) return { ...nothing, degraded: [{ code: "workspace_missing", text: this.missing() }] };
    return this.call("POST", "/v1/search", { query: query.query, max_results: query.maxResults, min_score: query.minScore, sources: ["memory", "extra"] }, signal);
  }

  /** Returns memories for a message of a person, in a frame that marks them as data; empty if there are none. */
  async recall(
    about: { message: string; session: string; channel?: string; group: boolean; author?: Author },
    signal?: AbortSignal,
  ): Promise<string> {
    if (this.isNew()) return "";
    const { block } = await this.call<{ block: string }>("POST", "/v1/recall", about, signal);
    return block;
  }

  /** Returns lines of a note. The error has the code NOT_FOUND if there is no such note. */
  async get(path: string, from?: number, lines?: number, signal?: AbortSignal): Promise<Note> {
    if (this.isNew()) throw new ServiceError("NOT_FOUND", this.missing());
    const range = new URLSearchParams();
    if (from) range.set("from", String(from));
    if (lines) range.set("lines", String(lines));
    // One segment, of which URL resolves no "..": the service refuses what leads out of the workspace.
    return this.call("GET", `/v1/notes/${encodeURIComponent(path)}?${range}`, undefined, signal);
  }

  /** Adds a note. The same key adds it once. */
  append(
    note: { text: string; category?: string; target?: string; idempotency_key: string; origin?: { channel?: string; authors?: Author[] } },
    signal?: AbortSignal,
  ): Promise<Record<string, unknown>> {
    return this.call("POST", "/v1/notes", { ...note, source: "agent" }, signal);
  }

  /** Hands over a conversation that ends. What was not flushed of it is flushed, or kept until there is a model. */
  endSession(
    end: { session: string; messages: Message[] },
    signal?: AbortSignal,
  ): Promise<{ outcome: "done" | "kept" | "skipped" | "failed"; reason: string }> {
    return this.call("POST", "/v1/sessions:end", end, signal);
  }

  /** Returns the state of index and provider. */
  async status(signal?: AbortSignal): Promise<Status> {
    if (this.isNew()) return emptyStatus(this.access.workspace, this.missing());
    return this.call("GET", "/v1/status", undefined, signal);
  }

  /** Brings the index up to date; with rebuild it is made anew. */
  async sync(rebuild: boolean, signal?: AbortSignal): Promise<void> {
    if (!this.isNew()) await this.call("POST", rebuild ? "/v1/rebuild" : "/v1/sync", {}, signal);
  }

  /** Returns whether there is no workspace: OpenClaw makes it in the first run of an agent. Until then the memory is empty. */
  private isNew(): boolean {
    return !this.access.address && statSync(this.access.workspace, { throwIfNoEntry: false }) === undefined;
  }

  /** Returns what people are told of a workspace that is not there. */
  private missing(): string {
    return `there is no workspace ${this.access.workspace}; OpenClaw makes it in the first run of the agent`;
  }

  /** Makes a call, and once more if the daemon is gone. Each call may be made twice: notes are written once. */
  private async call<T>(method: "GET" | "POST", path: string, body: object | undefined, signal?: AbortSignal): Promise<T> {
    for (let again = false; ; again = true) {
      this.address ??= this.find();
      const finding = this.address;
      try {
        const to = await finding;
        return (await send(to, this.access.token, method, path, body, signal)) as T;
      } catch (err) {
        if (this.address === finding) this.address = undefined;
        if (again || this.access.address || !isGone(err)) throw err;
      }
    }
  }

  /** Returns where the memory is served. */
  private async find(): Promise<Address> {
    const { address, agent, workspace } = this.access;
    if (address.startsWith("unix:")) return { agent, socket: address.slice("unix:".length), base: new URL("http://localhost") };
    if (address) return { agent, socket: "", base: new URL(address) };
    const args = ["join", "--json", "--agent", agent, "--workspace", workspace];
    const joined = JSON.parse(await run(this.access.command, args, this.access.env)) as { socket: string; target?: string; agent: string };
    if (joined.socket) return { agent: joined.agent, socket: joined.socket, base: new URL("http://localhost") };
    return { agent: joined.agent, socket: "", base: new URL(`http://${joined.target}`) };
  }
}

/** The answer of a search in an empty memory. */
const nothing = { results: [], provider: "", model: "", mode: "keyword" };

/** Returns the status of a memory without a workspace. */
function emptyStatus(workspace: string, reason: string): Status {
  return {
    workspace,
    sizes: { path: "" },
    index: { fileCount: 0, chunkCount: 0, pendingFileCount: 0 },
    space: { provider: "", model: "" },
    provider_reason: reason,
    health: { healthy: false },
    cached: 0,
    version: "",
  };
}

/** Reports whether nobody listens at an address, or the one who did has hung up. */
function isGone(err: unknown): boolean {
  return ["ECONNREFUSED", "ENOENT", "ECONNRESET", "EPIPE"].includes((err as NodeJS.ErrnoException).code ?? "");
}

/** How long finding or starting a daemon may take. */
const startWaitMs = 40_000;

/** Runs a program and returns its output. */
function run(command: string, args: string[], env: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { env: { ...process.env, ...env }, timeout: startWaitMs }, (err, out, notices) => {
      if (!err) resolve(out);
      else if ((err as NodeJS.ErrnoException).code === "ENOENT")
        reject(new Error(`${command} is not installed, or not on the PATH of OpenClaw: install Kioku, or set plugins.entries.kioku.config.command`));
      else reject(new Error(`${command} ${args[0]}: ${lastLine(notices) || err.message}`));
    });
  });
}

/** Returns the last line of a text. */
function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}

/** Sends one request and returns its answer. Of an answer of several objects, one a line, it returns the last. */
function send(to: Address, token: string, method: string, path: string, body: object | undefined, signal?: AbortSignal): Promise<unknown> {
  const url = new URL(to.base.pathname.replace(/\/$/, "") + path, to.base);
  if (method === "GET") url.searchParams.set("agent", to.agent);
  const options: RequestOptions = { method, headers: {} };
  if (signal) options.signal = signal;
  if (to.socket) options.socketPath = to.socket;
  const headers = options.headers as Record<string, string>;
  if (token) headers["Authorization"] = `Bearer ${token}`;
  if (body) headers["Content-Type"] = "application/json";
  return new Promise((resolve, reject) => {
    const req = (url.protocol === "https:" ? secure : plain)(url, options, (res) => receive(res).then(resolve, reject));
    req.on("error", reject);
    req.end(body && JSON.stringify({ ...body, agent: to.agent }));
  });
}

/** Reads an answer. It throws a ServiceError if the answer is one. */
async function receive(res: IncomingMessage): Promise<unknown> {
  let text = "";
  res.setEncoding("utf8");
  for await (const part of res) text += part as string;
  const answer = parse(text);
  const error = answer?.error as { code: string; message: string; hint?: string } | undefined;
  if (error) throw new ServiceError(error.code, error.hint ? `${error.message}; ${error.hint}` : error.message);
  if (!answer || (res.statusCode ?? 0) >= 400) throw new ServiceError("UNKNOWN", `Kioku answered ${res.statusCode}: ${text.slice(0, 200)}`);
  return answer;
}

/** Returns the object in the last line of a text; undefined if there is none. */
function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(lastLine(text)) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
