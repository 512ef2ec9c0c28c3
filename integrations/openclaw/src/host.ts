/**
 * What the plugin uses of OpenClaw's plugin API. OpenClaw's own types come with a package of several hundred megabytes, so they are
 * repeated here as far as they are used; test/sdk.ts checks them against the real ones.
 */

/** OpenClaw's configuration, as far as it is read here. */
export interface HostConfig {
  memory?: { search?: MemorySearchConfig; citations?: "auto" | "on" | "off" };
  agents?: {
    defaults?: { userTimezone?: string; compaction?: { memoryFlush?: MemoryFlushConfig }; memory?: { search?: MemorySearchConfig } };
    entries?: Record<string, { memory?: { search?: MemorySearchConfig } } | undefined>;
  };
  commands?: { ownerAllowFrom?: readonly (string | number)[] };
  plugins?: {
    slots?: { memory?: string };
    entries?: Record<string, { enabled?: boolean; hooks?: { allowConversationAccess?: boolean } } | undefined>;
  };
  models?: { providers?: Record<string, ModelProviderConfig | undefined> };
}

/** The block memory.search. */
export interface MemorySearchConfig {
  enabled?: boolean;
  provider?: string;
  model?: string;
  fallback?: string;
  outputDimensionality?: number;
  remote?: { baseUrl?: string; apiKey?: unknown; headers?: Record<string, unknown> };
  extraPaths?: readonly (string | { path: string; pattern?: string })[];
  query?: { maxResults?: number; minScore?: number };
}

/** A provider of models, whose address and key memory.search.provider may name. */
export interface ModelProviderConfig {
  api?: string;
  baseUrl?: string;
  apiKey?: unknown;
}

/** The block compaction.memoryFlush. */
export interface MemoryFlushConfig {
  enabled?: boolean;
  softThresholdTokens?: number;
  forceFlushTranscriptBytes?: number | string;
  model?: string;
}

/** What a tool returns. */
export interface ToolResult {
  content: { type: "text"; text: string }[];
  details: unknown;
}

/** A tool of an agent. */
export interface Tool {
  name: string;
  label: string;
  description: string;
  parameters: Record<string, unknown>;
  execute(callId: string, params: unknown, signal?: AbortSignal): Promise<ToolResult>;
}

/** For whom a tool is made. */
export interface ToolContext {
  config?: HostConfig;
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  messageChannel?: string;
  requesterSenderId?: string;
  senderIsOwner?: boolean;
}

/** Who and where, for hooks of an agent's turn. */
export interface AgentContext {
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  workspaceDir?: string;
  channel?: string;
  messageProvider?: string;
  senderId?: string;
  trigger?: string;
  inputProvenance?: { kind?: string };
  toolAuthority?: { allows(tool: string): boolean; assertActive(): void };
}

/** The events of the hooks that are used. */
export interface Hooks {
  before_prompt_build(
    event: { prompt: string; currentUserMessage?: string; messages: unknown[] },
    ctx: AgentContext,
  ): Promise<{ prependContext?: string } | void> | void;
  agent_end(event: { messages: unknown[]; success: boolean }, ctx: AgentContext): Promise<void> | void;
  before_compaction(event: { messages?: unknown[] }, ctx: AgentContext): Promise<void> | void;
  before_reset(event: { messages?: unknown[]; reason?: string }, ctx: AgentContext): Promise<void> | void;
  session_end(
    event: { sessionId: string; sessionKey?: string; reason?: string },
    ctx: { agentId?: string; sessionId: string; sessionKey?: string },
  ): Promise<void> | void;
}

/** One passage, as OpenClaw's memory tools and pages know it. */
export interface SearchHit {
  path: string;
  startLine: number;
  endLine: number;
  score: number;
  vectorScore?: number;
  textScore?: number;
  snippet: string;
  source: "memory" | "sessions";
  citation?: string;
}

/** Lines of a file, or that it does not exist. */
export type ReadResult =
  | { status: "ok"; text: string; path: string; truncated?: boolean; from?: number; lines?: number; nextFrom?: number }
  | { status: "not_found"; text: ""; path: string };

/** What OpenClaw shows of a memory. */
export interface ProviderStatus {
  backend: "builtin";
  provider: string;
  model?: string;
  files?: number;
  chunks?: number;
  dirty?: boolean;
  workspaceDir?: string;
  dbPath?: string;
  sources?: ("memory" | "sessions")[];
  cache?: { enabled: boolean; entries?: number };
  fts?: { enabled: boolean; available: boolean };
  vector?: { enabled: boolean; available?: boolean; dims?: number };
  fallback?: { from: string; reason?: string };
  custom?: Record<string, unknown>;
}

/** A memory, for OpenClaw's pages, its CLI and other plugins. */
export interface SearchManager {
  search(
    query: string,
    opts?: { maxResults?: number; minScore?: number; sources?: ("memory" | "sessions")[]; signal?: AbortSignal },
  ): Promise<SearchHit[]>;
  readFile(params: { relPath: string; from?: number; lines?: number }): Promise<ReadResult>;
  status(): ProviderStatus;
  sync(params?: { force?: boolean }): Promise<void>;
  probeEmbeddingAvailability(): Promise<{ ok: boolean; error?: string }>;
  probeVectorAvailability(): Promise<boolean>;
}

/** How OpenClaw has its own agent store notes before a compaction. */
export interface FlushPlan {
  softThresholdTokens: number;
  forceFlushTranscriptBytes: number;
  reserveTokensFloor: number;
  model?: string;
  prompt: string;
  systemPrompt: string;
  relativePath: string;
}

/** What the owner of the memory slot provides. */
export interface MemoryCapability {
  promptBuilder(params: { availableTools: Set<string>; citationsMode?: string; agentId?: string }): string[];
  flushPlanResolver(params: { cfg?: HostConfig; nowMs?: number; contextWindowTokens?: number }): FlushPlan | null;
  runtime: {
    getMemorySearchManager(params: { cfg: HostConfig; agentId: string }): Promise<{ manager: SearchManager | null; error?: string }>;
    resolveMemoryBackendConfig(): { backend: "builtin" };
    authorizeSearchHits(params: { hits: SearchHit[] }): Promise<SearchHit[]>;
    classifyWorkspaceMemoryPaths(params: {
      relativePaths: string[];
    }): Promise<{ relativePath: string; originClass: "owner" | "untrusted" }[]>;
  };
  deterministicRecallToolName: string;
}

/** A command of the CLI, as commander has it. */
export interface Command {
  command(name: string): Command;
  description(text: string): Command;
  option(flags: string, text: string): Command;
  argument(name: string, text?: string): Command;
  action(run: (...args: never[]) => Promise<void>): Command;
}

/** OpenClaw's plugin API. */
export interface HostApi {
  /** Why the plugin is registered. With cli-metadata, OpenClaw asks only for names of commands, and runtime throws. */
  registrationMode?: string;
  config: HostConfig;
  pluginConfig?: Record<string, unknown>;
  logger: { info(text: string): void; warn(text: string): void };
  runtime: {
    config?: { current?: () => HostConfig };
    agent: { resolveAgentWorkspaceDir(cfg: HostConfig, agentId: string): string };
  };
  registerTool(create: (ctx: ToolContext) => Tool | null, opts: { names: string[] }): void;
  registerMemoryCapability(capability: MemoryCapability): void;
  registerCli(
    registrar: (ctx: { program: Command; config: HostConfig }) => void,
    opts: { descriptors: { name: string; description: string; hasSubcommands: boolean }[] },
  ): void;
  on<K extends keyof Hooks>(hook: K, handler: Hooks[K], opts?: { requiresToolAuthority?: boolean; timeoutMs?: number }): void;
}
