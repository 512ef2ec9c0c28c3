// That the types in src/host.ts are those of OpenClaw: the plugin is assigned to what OpenClaw's loader expects.
import type { OpenClawPluginApi } from "openclaw/plugin-sdk/plugin-entry";
import plugin from "../src/index.js";
import type { HostApi, MemoryCapability } from "../src/host.js";

type RealCapability = Parameters<OpenClawPluginApi["registerMemoryCapability"]>[0];

export const capability = (ours: MemoryCapability): RealCapability => ours;
export const register = (api: OpenClawPluginApi): void => plugin.register(api as OpenClawPluginApi & Pick<HostApi, "registerCli" | "registerTool">);
