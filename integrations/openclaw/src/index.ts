import { Agents } from "./agents.js";
import { memoryCommands } from "./cli.js";
import { flushAtEnds } from "./ends.js";
import { flushPlan } from "./flushplan.js";
import type { HostApi } from "./host.js";
import { recallBeforeTurns } from "./recall.js";
import { memoryRuntime } from "./runtime.js";
import { appendTool, getTool, searchTool } from "./tools.js";

/** The plugin for OpenClaw's memory slot: plugins.slots.memory = "kioku". */
export default {
  id: "kioku",
  name: "Kioku",
  description: "Memory search, recall before each turn, and flushes at the end of a session, by Kioku",
  kind: "memory" as const,
  /** Registers tools, hooks and commands. Nothing is started before the first of them is used. */
  register(api: HostApi): void {
    const agents = new Agents(api);
    api.registerMemoryCapability({
      promptBuilder: ({ availableTools, citationsMode }) => promptSection(availableTools, citationsMode),
      flushPlanResolver: flushPlan,
      runtime: memoryRuntime(agents),
      deterministicRecallToolName: "memory_search",
    });
    api.registerTool((ctx) => searchTool(agents, ctx), { names: ["memory_search"] });
    api.registerTool((ctx) => getTool(agents, ctx), { names: ["memory_get"] });
    api.registerTool((ctx) => appendTool(agents, ctx), { names: ["memory_append"] });
    recallBeforeTurns(api, agents);
    flushAtEnds(api, agents);
    memoryCommands(api, agents);
    if (api.registrationMode !== "cli-metadata") agents.checkHost();
  },
};

/** Returns what the system prompt says about memory; nothing without the tools. */
function promptSection(tools: Set<string>, citations: string | undefined): string[] {
  if (!tools.has("memory_search")) return [];
  const lines = [
    "## Memory Recall",
    "Messages may begin with memories that were found for them. Before answering about earlier work, decisions, dates, people, preferences or todos that they " +
      "do not cover: run memory_search" + (tools.has("memory_get") ? "; read more around a hit with memory_get." : "."),
    "If a search has a warning, tell the user what it lacked.",
  ];
  if (tools.has("memory_append")) lines.push("What must outlast this conversation: store it with memory_append as soon as you learn it.");
  lines.push(citations === "off" ? "Do not name paths or line numbers of memories unless asked." : "Name the source (path#line) where it helps the user to verify.");
  return [...lines, ""];
}
