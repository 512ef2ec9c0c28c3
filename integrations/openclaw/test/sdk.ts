// That the types in src/host.ts are those of OpenClaw: each assignment fails if OpenClaw expects something else.
import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";
import type { HostApi, Hooks, MemoryCapability, Tool } from "../src/host.js";

type RealCapability = Parameters<OpenClawPluginApi["registerMemoryCapability"]>[0];

export const capability = (ours: MemoryCapability): RealCapability => ours;
export const host = (api: OpenClawPluginApi): Omit<HostApi, "on" | "registerTool" | "registerCli" | "registerMemoryCapability"> => api;
export const tool = (api: OpenClawPluginApi, create: () => Tool | null): void => api.registerTool(create, { names: ["memory_search"] });
export function hooks(api: OpenClawPluginApi, ours: Hooks): void {
  api.on("before_prompt_build", ours.before_prompt_build, { requiresToolAuthority: true });
  api.on("agent_end", ours.agent_end);
  api.on("before_compaction", ours.before_compaction);
  api.on("before_reset", ours.before_reset);
  api.on("session_end", ours.session_end);
}
