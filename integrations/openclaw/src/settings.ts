import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { HostConfig, MemorySearchConfig, ModelProviderConfig } from "./host.js";

/** The settings of this plugin, plugins.entries.kioku.config. */
export interface PluginSettings {
  command: string;
  address: string;
  token: string;
  agents: Record<string, string>;
  settings: Record<string, string | number | boolean>;
  recall: { enabled: boolean; groups: boolean; timeoutMs: number };
  onEnd: boolean;
}

/** Reads the settings of this plugin, which OpenClaw has checked against the schema of the manifest. */
export function pluginSettings(raw: Record<string, unknown> | undefined): PluginSettings {
  const c = (raw ?? {}) as Partial<Omit<PluginSettings, "recall">> & { recall?: Partial<PluginSettings["recall"]> };
  return {
    command: c.command || "kioku",
    address: c.address ?? "",
    token: c.token ?? "",
    agents: c.agents ?? {},
    settings: c.settings ?? {},
    recall: { enabled: c.recall?.enabled ?? true, groups: c.recall?.groups ?? false, timeoutMs: c.recall?.timeoutMs ?? 3000 },
    onEnd: c.onEnd ?? true,
  };
}

/** Returns the block memory.search of an agent: its own keys, else those of all agents. Extra paths of both count. */
export function memorySearch(cfg: HostConfig, agentId: string): MemorySearchConfig {
  const all = { ...cfg.agents?.defaults?.memory?.search, ...cfg.memory?.search };
  const own = cfg.agents?.entries?.[agentId]?.memory?.search ?? {};
  return {
    ...all,
    ...own,
    remote: { ...all.remote, ...own.remote },
    query: { ...all.query, ...own.query },
    extraPaths: [...(all.extraPaths ?? []), ...(own.extraPaths ?? [])],
  };
}

/** Settings for a daemon as environment variables, and what of OpenClaw's settings has no counterpart. */
export interface DaemonSettings {
  env: Record<string, string>;
  unused: string[];
}

/** Providers of embeddings that both know by the same name. */
const sameName = new Set(["none", "openai", "gemini", "voyage", "mistral", "ollama"]);

/** Services with the API of OpenAI that OpenClaw knows by a name of their own, and their addresses. */
const compatible: Record<string, string> = {
  "openai-compatible": "",
  lmstudio: "http://127.0.0.1:1234/v1",
  deepinfra: "https://api.deepinfra.com/v1/openai",
};

/**
 * Returns OpenClaw's settings of an agent's memory as variables of Kioku. Only keys that are set become variables: the others stay as
 * Kioku's own configuration has them. Keys are passed in the environment, where other users of the machine cannot read them.
 */
export function daemonSettings(cfg: HostConfig, agentId: string, workspace: string, plugin: PluginSettings): DaemonSettings {
  const search = memorySearch(cfg, agentId);
  const out: DaemonSettings = { env: {}, unused: [] };
  const set = (key: string, value: unknown) => {
    if (value !== undefined && value !== "") out.env[variable(key)] = String(value);
  };
  provider(cfg, search, out, set);
  const extra = (search.extraPaths ?? []).map((p) => extraPath(p, workspace));
  if (extra.length) set("extraPaths", JSON.stringify(extra));
  set("include", JSON.stringify(noOthers));
  set("exclude", JSON.stringify(generated));
  set("query.maxResults", search.query?.maxResults);
  set("query.minScore", search.query?.minScore);
  for (const [key, value] of Object.entries(plugin.settings)) set(key, value);
  return out;
}

/** Sets what computes embeddings. */
function provider(cfg: HostConfig, search: MemorySearchConfig, out: DaemonSettings, set: (key: string, value: unknown) => void) {
  const name = search.provider;
  if (!name || name === "auto") return;
  const custom = cfg.models?.providers?.[name];
  const kind = kindOf(name, custom);
  if (!kind) {
    out.unused.push(`memory.search.provider: Kioku has no provider ${name}; kioku model add has local models`);
    return;
  }
  set("provider", kind);
  if (kind === "none") return;
  set("model", search.model);
  set("dims", search.outputDimensionality);
  set("remote.baseUrl", search.remote?.baseUrl || custom?.baseUrl || compatible[name]);
  const key = search.remote?.apiKey ?? custom?.apiKey;
  if (typeof key === "string") set("remote.apiKey", key);
  else if (key) out.unused.push("memory.search.remote.apiKey: the secret was not resolved; set remote.apiKey in the settings of the plugin");
  if (search.fallback && search.fallback !== "none")
    out.unused.push("memory.search.fallback: Kioku has no second provider; it searches by keywords while the first one does not answer");
}

/** Returns Kioku's name of a provider; undefined if it has none. */
function kindOf(name: string, custom: ModelProviderConfig | undefined): string | undefined {
  if (sameName.has(name)) return name;
  if (name in compatible) return "openai";
  if (custom?.api === "ollama") return "ollama";
  return custom?.api?.startsWith("openai") ? "openai" : undefined;
}

/** Returns the variable of a setting: query.maxResults is KIOKU_QUERY_MAX_RESULTS. */
function variable(key: string): string {
  return "KIOKU_" + key.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replaceAll(".", "_").toUpperCase();
}

/**
 * Files that are indexed beside USER.md and memory/. Without any, Kioku indexes all Markdown of a workspace that has no notes yet, and
 * AGENTS.md, SOUL.md and such are no memories.
 */
const noOthers = ["MEMORY.md"];

/** Reports that OpenClaw's dreaming writes. What was made of memories must not become one. */
const generated = ["memory/dreaming/**", "memory/.dreams/**"];

/** Returns an extra path as one absolute text: a folder with a pattern is folder/pattern. OpenClaw's are relative to the workspace. */
function extraPath(p: string | { path: string; pattern?: string }, workspace: string): string {
  const path = (typeof p === "string" ? p : p.path).replace(/^~(?=\/|$)/, homedir());
  const absolute = isAbsolute(path) ? path : join(workspace, path);
  return typeof p === "object" && p.pattern ? join(absolute, p.pattern) : absolute;
}
