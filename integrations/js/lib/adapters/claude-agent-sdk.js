// Memory for the Claude Agent SDK: tools, recall, and conversations that are stored before they are compacted and when they end.
import {readFileSync} from 'node:fs';
import {Server} from '@modelcontextprotocol/sdk/server/index.js';
import {CallToolRequestSchema, ListToolsRequestSchema} from '@modelcontextprotocol/sdk/types.js';
import {recallBlock, warn} from '../turn.js';

/** @typedef {import('../client.js').Kioku} Kioku */
/** @typedef {import('../messages.js').Message} Message */

/**
 * Returns options for query(), an MCP server in this process with the memory tools and hooks that recall and store, and end, to be called after
 * the last message: hooks of SessionEnd that are functions are called when a conversation is cleared, and not when the program ends it. The
 * language model of the service makes the notes; without one, what was said is kept on disk until there is one.
 * @param {Kioku} kioku
 * @param {import('../tools.js').ToolOptions & {onError?: (err: Error) => void}} [options]
 * @returns {{options: Pick<import('@anthropic-ai/claude-agent-sdk').Options, 'mcpServers' | 'allowedTools' | 'hooks'>, end: () => Promise<void>}}
 */
export function withMemory(kioku, options = {}) {
  const {channel, group, onError = warn} = options;
  /** @type {Map<string, {session: import('../session.js').Session, path: string}>} */
  const open = new Map();
  const store = (/** @type {(session: import('../session.js').Session, messages: Message[]) => Promise<unknown>} */ keep) => hook(async ({session_id: id, transcript_path: path}) => {
    const {session} = open.get(id) ?? {session: kioku.session(id, {channel, group})};
    open.set(id, {session, path});
    await keep(session, readTranscript(readFileSync(path, 'utf8'))).catch(onError);
    return {};
  });
  return {
    options: {
      mcpServers: {kioku: {type: 'sdk', name: 'kioku', instance: memoryServer(kioku, options)}},
      allowedTools: ['mcp__kioku'],
      hooks: {
        UserPromptSubmit: [hook(async ({hook_event_name: hookEventName, prompt, session_id: session}) => {
          const additionalContext = await recallBlock(kioku, prompt, {channel, group, session, onError});
          return additionalContext ? {hookSpecificOutput: {hookEventName, additionalContext}} : {};
        })],
        Stop: [store((session, messages) => session.tell(messages))],
        PreCompact: [store((session, messages) => session.flush(messages))],
        SessionEnd: [store((session, messages) => session.end(messages))],
      },
    },
    async end() {
      for (const {session, path} of open.values()) await session.end(readTranscript(readFileSync(path, 'utf8'))).catch(onError);
      open.clear();
    },
  };
}

/** @param {(input: any) => Promise<object>} run */
function hook(run) {
  return {timeout: 600, hooks: [run]};
}

/**
 * Returns an MCP server with the memory tools.
 * @param {Kioku} kioku
 * @param {import('../tools.js').ToolOptions} options
 */
function memoryServer(kioku, options) {
  const server = new Server({name: 'kioku', version: '1.0.0'}, {capabilities: {tools: {}}});
  const tools = () => kioku.memoryTools(options);
  const shown = {_meta: {'anthropic/alwaysLoad': true}}; // a model that has to search for its memory does not use it
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: (await tools()).map(({name, description, inputSchema}) => ({name, description, inputSchema, ...shown})),
  }));
  server.setRequestHandler(CallToolRequestSchema, async (/** @type {any} */ {params}) => {
    const found = (await tools()).find((t) => t.name === params.name);
    const {output, failed} = found ? await found.call(params.arguments) : {output: `no tool ${params.name}`, failed: true};
    return {content: [{type: 'text', text: output}], isError: failed};
  });
  return server;
}

/**
 * Returns what the user and the model said in a transcript of Claude Code, without tools and what was added to it.
 * @param {string} jsonl
 * @returns {Message[]}
 */
export function readTranscript(jsonl) {
  return jsonl.split('\n').filter(Boolean).flatMap((line) => {
    const {type, uuid, message, isMeta, isSidechain, isCompactSummary} = JSON.parse(line);
    if (!['user', 'assistant'].includes(type) || isMeta || isSidechain || isCompactSummary) return [];
    const parts = typeof message.content === 'string' ? [{type: 'text', text: message.content}] : message.content;
    const text = parts.flatMap((/** @type {any} */ p) => (p.type === 'text' ? [p.text] : [])).join('\n');
    return text ? [{id: uuid, role: type, text}] : [];
  });
}
