import type { HostApi, HostConfig } from "./host.js";
import { Kioku } from "./kioku.js";
import { daemonSettings, memorySearch, pluginSettings, type PluginSettings } from "./settings.js";

/** The memories of OpenClaw's agents. An agent reaches only the memory that belongs to its id and its workspace. */
export class Agents {
  /** The settings of this plugin. */
  readonly settings: PluginSettings;
  /** Memories by agent, workspace and settings. */
  private readonly memories = new Map<string, Kioku>();
  private readonly told = new Set<string>();

  constructor(private readonly api: HostApi) {
    this.settings = pluginSettings(api.pluginConfig);
  }

  /** Returns OpenClaw's configuration as it is now. */
  config(): HostConfig {
    return this.api.runtime.config?.current?.() ?? this.api.config;
  }

  /** Returns whether an agent has a memory: memory.search.enabled is not false. */
  enabled(agentId: string): boolean {
    return memorySearch(this.config(), agentId).enabled !== false;
  }

  /** Returns the memory of an agent. Its workspace is the folder of its notes. */
  of(agentId: string): Kioku {
    const cfg = this.config();
    const workspace = this.api.runtime.agent.resolveAgentWorkspaceDir(cfg, agentId);
    const { env, unused } = daemonSettings(cfg, agentId, workspace, this.settings);
    const { command, address, token } = this.settings;
    const access = { agent: this.settings.agents[agentId] ?? agentId, workspace, command, env, address, token };
    const key = JSON.stringify(access);
    let memory = this.memories.get(key);
    if (!memory) {
      unused.forEach((text) => this.tell(text));
      memory = new Kioku(access);
      this.memories.set(key, memory);
    }
    return memory;
  }

  /** Returns whether a sender is the owner: commands.ownerAllowFrom names the id, with or without its channel. */
  isOwner(senderId: string | undefined, channel: string | undefined): boolean {
    const owners = (this.config().commands?.ownerAllowFrom ?? []).map(String);
    return senderId !== undefined && (owners.includes(senderId) || owners.includes(`${channel ?? ""}:${senderId}`));
  }

  /** Warns about settings of OpenClaw, as they are at the registration, under which a part of this plugin does not work. */
  checkHost(): void {
    const { slots, entries } = this.api.config.plugins ?? {};
    if (slots?.memory !== "kioku") return;
    if (entries?.kioku?.hooks?.allowConversationAccess !== true)
      this.tell("no recall and no flush at the end: openclaw config set plugins.entries.kioku.hooks.allowConversationAccess true");
    if (entries?.["memory-core"]?.enabled !== false)
      this.tell("memory-core is loaded beside, and its tools take the names: openclaw config set plugins.entries.memory-core.enabled false");
  }

  /** Logs a warning once. */
  tell(text: string): void {
    if (this.told.has(text)) return;
    this.told.add(text);
    this.api.logger.warn(`kioku: ${text}`);
  }
}

/** Returns the agent of a session: the named one, else the one in a key such as agent:main:telegram:direct:7, else main. */
export function agentOf(agentId: string | undefined, sessionKey: string | undefined): string {
  return agentId || /^agent:([^:]+):/.exec(sessionKey ?? "")?.[1] || "main";
}

/** Returns whether several people take part in a session: its key names a group or a channel. */
export function isGroup(sessionKey: string | undefined): boolean {
  const parts = (sessionKey ?? "").toLowerCase().split(":").slice(2);
  return parts.includes("group") || parts.includes("channel");
}
