import type { Command, HostApi } from "./host.js";
import type { Agents } from "./agents.js";
import { hits } from "./hits.js";
import { providerStatus } from "./runtime.js";

/** The options of the commands. */
interface Options {
  agent?: string;
  json?: boolean;
  force?: boolean;
  maxResults?: string;
  minScore?: string;
}

/** Adds openclaw memory status, index and search, with the flags that OpenClaw's own commands have. */
export function memoryCommands(api: HostApi, agents: Agents): void {
  const descriptor = { name: "memory", description: "Search, inspect and index memory files (Kioku)", hasSubcommands: true };
  api.registerCli(({ program }) => addCommands(program, agents), { descriptors: [descriptor] });
}

/** Adds the commands to the CLI. */
function addCommands(program: Command, agents: Agents): void {
  const memory = program.command("memory").description("Search, inspect and index memory files (Kioku)");
  const withAgent = (c: Command) => c.option("--agent <id>", "Agent (default main)").option("--json", "Print JSON");
  withAgent(memory.command("status").description("Show the state of the index and the provider of embeddings"))
    .option("--deep", "Ask the provider too (Kioku always knows its state)")
    .action(async (o: Options) => {
      const id = o.agent ?? "main";
      const status = providerStatus(await agents.of(id).status());
      print(o, [{ agentId: id, status }], [
        `Memory of ${id} (${`Kioku ${String(status.custom?.version)}`.trim()}): ${status.workspaceDir}`,
        `Index: ${status.files} files, ${status.chunks} chunks${status.dirty ? ", changes are being indexed" : ""}`,
        `Embeddings: ${status.provider} ${status.model ?? ""} ${String(status.custom?.reason ?? "")}`.trim(),
        ...(status.dbPath ? [`Store: ${status.dbPath}`] : []),
      ]);
    });
  withAgent(memory.command("index").description("Bring the index up to date"))
    .option("--force", "Make it anew")
    .action(async (o: Options) => {
      await agents.of(o.agent ?? "main").sync(o.force === true);
      print(o, { ok: true }, [`Memory index of ${o.agent ?? "main"} is up to date.`]);
    });
  withAgent(memory.command("search").description("Search memory files").argument("[query]", "What to search for"))
    .option("--query <text>", "What to search for")
    .option("--max-results <n>", "Maximum number of results")
    .option("--min-score <n>", "Minimum score")
    .action(async (words: string | undefined, o: Options & { query?: string }) => {
      const query = o.query ?? words;
      if (!query) throw new Error("openclaw memory search needs a query");
      const answer = await agents.of(o.agent ?? "main").search({ query, maxResults: toNumber(o.maxResults), minScore: toNumber(o.minScore) });
      const results = hits(answer);
      const lines = results.flatMap((h) => [`${h.score.toFixed(3)} ${h.citation}`, h.snippet, ""]);
      print(o, { results }, lines.length ? lines : ["No matches."]);
    });
}

/** Writes JSON, or lines for people. */
function print(o: Options, value: unknown, lines: string[]): void {
  process.stdout.write((o.json ? JSON.stringify(value, null, 2) : lines.join("\n")) + "\n");
}

/** Returns the number of an option; undefined if it is missing. */
function toNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
