import type { MemoryCapability, ProviderStatus, SearchManager } from "./host.js";
import type { Agents } from "./agents.js";
import { hits, read } from "./hits.js";
import type { Kioku, Status } from "./kioku.js";

/** Files that belong to the owner. What stands in others may have come from anybody. */
const ownersFiles = new Set(["MEMORY.md", "USER.md"]);

/** Returns what OpenClaw's own pages, CLI and other plugins ask a memory for. */
export function memoryRuntime(agents: Agents): MemoryCapability["runtime"] {
  return {
    async getMemorySearchManager({ agentId }) {
      if (!agents.enabled(agentId)) return { manager: null, error: "memory.search.enabled is false" };
      try {
        return { manager: await openManager(agents.of(agentId)) };
      } catch (err) {
        return { manager: null, error: err instanceof Error ? err.message : String(err) };
      }
    },
    resolveMemoryBackendConfig: () => ({ backend: "builtin" }),
    // Kioku indexes no transcripts of OpenClaw, so no hit needs its permission.
    authorizeSearchHits: async ({ hits }) => hits.filter((hit) => hit.source === "memory"),
    classifyWorkspaceMemoryPaths: async ({ relativePaths }) =>
      relativePaths.map((relativePath) => ({ relativePath, originClass: ownersFiles.has(relativePath) ? "owner" : "untrusted" })),
  };
}

/** Returns a manager with the status that the memory has now. */
async function openManager(memory: Kioku): Promise<SearchManager> {
  let status = await memory.status();
  return {
    async search(query, opts) {
      if (opts?.sources && !opts.sources.includes("memory")) return [];
      return hits(await memory.search({ query, maxResults: opts?.maxResults, minScore: opts?.minScore }, opts?.signal));
    },
    readFile: ({ relPath, from, lines }) => read(memory, relPath, from, lines),
    status: () => providerStatus(status),
    async sync(params) {
      await memory.sync(params?.force === true);
      status = await memory.status();
    },
    async probeEmbeddingAvailability() {
      status = await memory.status();
      const { space, health, provider_reason: why } = status;
      return space.provider && health.healthy ? { ok: true } : { ok: false, error: health.error || why || "no provider of embeddings is configured" };
    },
    probeVectorAvailability: async () => status.space.provider !== "",
  };
}

/** Returns a status as OpenClaw shows it. */
export function providerStatus(s: Status): ProviderStatus {
  const vectors = s.space.provider !== "";
  return {
    backend: "builtin",
    provider: s.space.provider || "none",
    model: s.space.model,
    files: s.index.fileCount,
    chunks: s.index.chunkCount,
    dirty: s.index.pendingFileCount > 0,
    workspaceDir: s.workspace,
    dbPath: s.sizes.path,
    sources: ["memory"],
    cache: { enabled: true, entries: s.cached },
    fts: { enabled: true, available: true },
    vector: { enabled: vectors, available: vectors && s.health.healthy, dims: s.space.dims ?? 0 },
    custom: { engine: "kioku", version: s.version, reason: s.provider_reason || s.health.error },
  };
}
