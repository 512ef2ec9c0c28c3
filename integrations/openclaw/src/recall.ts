import type { AgentContext, HostApi } from "./host.js";
import { agentOf, isGroup, type Agents } from "./agents.js";
import { channelOf } from "./tools.js";

/**
 * Has what memory knows about a message of a person go before that message. It goes into the newest message only, so the system prompt
 * and the messages before stay the same and stay in the provider's cache. A recall that fails or takes too long is left out.
 */
export function recallBeforeTurns(api: HostApi, agents: Agents): void {
  const { enabled, groups, timeoutMs } = agents.settings.recall;
  if (!enabled) return;
  api.on(
    "before_prompt_build",
    async (event, ctx) => {
      const message = (event.currentUserMessage ?? event.prompt).trim();
      const agentId = agentOf(ctx.agentId, ctx.sessionKey);
      if (!message || !fromPerson(ctx) || !agents.enabled(agentId) || (isGroup(ctx.sessionKey) && !groups)) return;
      if (ctx.toolAuthority && !ctx.toolAuthority.allows("memory_search")) return;
      try {
        const block = await agents.of(agentId).recall(about(message, ctx, agents), AbortSignal.timeout(timeoutMs));
        ctx.toolAuthority?.assertActive();
        return block ? { prependContext: block } : undefined;
      } catch (err) {
        agents.tell(`no recall: ${err instanceof Error ? err.message : String(err)}`);
        return;
      }
    },
    { requiresToolAuthority: true },
  );
}

/** Returns whether a turn answers a message, and not a timer or another session. */
function fromPerson(ctx: AgentContext): boolean {
  return (ctx.trigger ?? "user") === "user" && (ctx.inputProvenance?.kind ?? "external_user") === "external_user";
}

/** Returns the request for a message. */
function about(message: string, ctx: AgentContext, agents: Agents) {
  const group = isGroup(ctx.sessionKey);
  const channel = channelOf(ctx.messageProvider ?? ctx.channel, ctx.sessionKey);
  const author = group ? { id: ctx.senderId ?? "", isOwner: agents.isOwner(ctx.senderId, ctx.messageProvider ?? ctx.channel) } : undefined;
  return { message: clip(message), session: ctx.sessionKey ?? "", channel, group, author };
}

/** Longest message that is searched for, in characters: the service takes 64 KiB. */
const maxMessage = 16_000;

/** Returns the end of a long message, where a person asks. */
function clip(message: string): string {
  return message.length <= maxMessage ? message : message.slice(-maxMessage);
}
