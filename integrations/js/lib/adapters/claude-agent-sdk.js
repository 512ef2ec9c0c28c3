// Memory for the Claude Agent SDK: tools, recall, and conversations that are stored before they are compacted and when they end.
import {readFileSync} from 'node:fs';
import {Server} from '@modelcontextprotocol/sdk/server/index.js';
import {CallToolRequestSchema, ListToolsRequestSchema} from '@modelcontextprotocol/sdk/types.js';
import {recallBlock, warn} from '../turn.js';

/** @typedef {import('../client.js').Kioku} Kioku */
/** @typedef {import('../messages.js').Message} Message */

/**
 * Returns options for query(): an MCP server in this process with the memory tools, and hooks that recall and store. The service's language
 * model makes the notes; without one, what was said is kept on disk until there is one.
 * @param {Kioku} kioku
 * @param {import('../tools.js').ToolOptions & {onError?: (err: Error) => void}} [options]
 * @returns {Pick<import('@anthropic-ai/claude-agent-sdk').Options, 'mcpServers' | 'allowedTools' | 'hooks'>}
 */
export function memoryOptions(kioku, options = {}) {
  const {channel, group, onError = warn} = options;
  return {
    mcpServers: {kioku: {type: 'sdk', name: 'kioku', instance: memoryServer(kioku, options)}},
    allowedTools: ['mcp__kioku'],
    hooks: {
      UserPromptSubmit: [{hooks: [async (/** @type {any} */ {hook_event_name: hookEventName, prompt, session_id: session}) => {
        const additionalContext = await recallBlock(kioku, prompt, {channel, group, session, onError});
        return additionalContext ? {hookSpecificOutput: {hookEventName, additionalContext}} : {};
      }]}],
      PreCompact: [store(kioku, onError, (session, messages) => kioku.session(session).flush(messages))],
      SessionEnd: [store(kioku, onError, (session, messages) => kioku.session(session).end(messages))],
    },
  };
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
 * Returns a matcher whose hook has the conversation of a transcript stored.
 * @param {Kioku} kioku
 * @param {(err: Error) => void} onError
 * @param {(session: string, messages: Message[]) => Promise<unknown>} keep
 */
function store(kioku, onError, keep) {
  return {
    timeout: 600,
    hooks: [async (/** @type {any} */ {session_id: session, transcript_path: path}) => {
      await keep(session, readTranscript(readFileSync(path, 'utf8'))).catch(onError);
      return {};
    }],
  };
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
