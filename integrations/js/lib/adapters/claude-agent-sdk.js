// Memory for the Claude Agent SDK: tools, recall, and conversations that are stored before they are compacted and when they end.
import {Server} from '@modelcontextprotocol/sdk/server/index.js';
import {CallToolRequestSchema, ListToolsRequestSchema} from '@modelcontextprotocol/sdk/types.js';
import {recentSessions} from '../recent.js';
import {appendTool} from '../tools.js';
import {recallBlock, warn} from '../turn.js';
import {readTranscriptFile} from './claude-transcript.js';

export {readTranscript} from './claude-transcript.js';

/**
 * Returns options for query(), an MCP server in this process with the memory tools and hooks that recall and store, and end, to be called after
 * the last message: hooks of SessionEnd that are functions are called when a conversation is cleared, and not when the program ends it. The
 * language model of the service makes the notes; without one, what was said is kept on disk until there is one.
 */
export function withMemory(kioku, options = {}) {
  const {channel, group, onError = warn} = options;
  const conversations = new Conversations(kioku, {channel, group}, onError);
  let source = 'agent';
  return {
    options: {
      mcpServers: {kioku: {type: 'sdk', name: 'kioku', instance: memoryServer(kioku, options, () => source)}},
      allowedTools: ['mcp__kioku'],
      hooks: {
        UserPromptSubmit: [hook(async ({hook_event_name: hookEventName, prompt, session_id: id}) => {
          source = 'agent';
          const additionalContext = await recallBlock(kioku, String(prompt ?? ''), {channel, group, session: `claude-code-${id}`, onError});
          return additionalContext ? {hookSpecificOutput: {hookEventName, additionalContext}} : undefined;
        })],
        PostToolUse: [hook(async ({tool_name: name}) => {
          if (name !== `mcp__kioku__${appendTool}`) source = 'tool'; // what is stored after that may come from there
        })],
        Stop: [hook(({session_id: id, transcript_path: path}) => conversations.store(id, path, (session, said) => session.tell(said)))],
        PreCompact: [hook(({session_id: id, transcript_path: path}) => conversations.store(id, path, (session, said) => session.flush(said)))],
        SessionEnd: [hook(({session_id: id, transcript_path: path}) => conversations.end(id, path))],
      },
    },
    end: () => conversations.endAll(),
  };
}

/** The conversations of a program. What goes wrong with one is told to onError: the agent goes on, and so do the others. */
class Conversations {
  /** Transcripts of the conversations that have not ended, by their ids. */
  #paths = new Map();
  #sessions;
  #onError;

  constructor(kioku, options, onError) {
    this.#sessions = recentSessions((id) => kioku.session(`claude-code-${id}`, {...options, onError})); // the name in Kioku's own hooks
    this.#onError = onError;
  }

  /**
   * Stores what was said in a conversation, unless nothing was. It reports whether that was done.
   * @param path Its transcript.
   */
  async store(id, path, keep) {
    this.#paths.set(id, path);
    try {
      const said = readTranscriptFile(path);
      if (said.length > 0) await keep(this.#sessions.get(id), said);
      return true;
    } catch (err) {
      this.#onError(err);
      return false;
    }
  }

  /** Ends a conversation. If that fails, the next end tries it again. */
  async end(id, path) {
    if (!await this.store(id, path, endSession)) return;
    this.#paths.delete(id);
    this.#sessions.delete(id);
  }

  /** Ends all conversations. */
  async endAll() {
    for (const [id, path] of [...this.#paths]) await this.end(id, path);
  }
}

async function endSession(session, said) {
  const {outcome, reason} = await session.end(said);
  if (outcome === 'failed') throw new Error(`what was said in ${session.id} is not stored yet: ${reason}`);
}

/** Returns a hook that answers with what run returns, if that is an answer. */
function hook(run) {
  return {timeout: 600, hooks: [async (input) => {
    const answer = await run(input);
    return answer && typeof answer === 'object' ? answer : {};
  }]};
}

/**
 * Returns an MCP server with the memory tools.
 * @param source Returns who writes.
 */
function memoryServer(kioku, options, source) {
  const server = new Server({name: 'kioku', version: '1.0.0'}, {capabilities: {tools: {}}});
  const tools = () => kioku.memoryTools(options);
  const shown = {_meta: {'anthropic/alwaysLoad': true}}; // a model that has to search for its memory does not use it
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: (await tools()).map(({name, description, inputSchema}) => ({name, description, inputSchema, ...shown})),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({params}) => {
    const found = (await tools()).find((t) => t.name === params.name);
    const {output, failed} = found ? await found.call(params.arguments, {source: source()}) : {output: `no tool ${params.name}`, failed: true};
    return {content: [{type: 'text', text: output}], isError: failed};
  });
  return server;
}
