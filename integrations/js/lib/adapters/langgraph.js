// Memory for LangGraph: tools, and a hook that makes the conversation of each thread one that loses nothing. The store is langgraph-store.js.
import {AIMessage, HumanMessage, SystemMessage, ToolMessage} from '@langchain/core/messages';
import {tool} from '@langchain/core/tools';
import {sourceOf} from '../messages.js';
import {recentSessions} from '../recent.js';
import {prepareTurn, readMessages} from '../turn.js';

export {KiokuStore} from './langgraph-store.js';

/** Returns the memory tools for an agent. */
export async function memoryTools(kioku, options) {
  const tools = await kioku.memoryTools(options);
  return tools.map(({name, description, inputSchema, call}) => tool(async (input, runtime) => {
    const {output, failed} = await call(input, {source: sourceOf(toMessages(runtime?.state?.messages ?? []))});
    if (failed) throw new Error(output);
    return output;
  }, {name, description, schema: {...inputSchema, additionalProperties: true}})); // the service refuses what it does not know, with a hint
}

/**
 * Returns a preModelHook: it adds the system prompt of the workspace and what is recalled, stores memories, and sends a summary in place of old
 * messages. The state of the graph stays as it is. The session of a thread has the name of its thread_id, which each call has to give.
 */
export function preModelHook(kioku, options) {
  const sessions = recentSessions((id) => kioku.session(id, options));
  return async ({messages}, config) => {
    const id = config?.configurable?.thread_id;
    if (id === undefined || id === '') throw new TypeError('preModelHook keeps a session for each thread: invoke the graph with {configurable: {thread_id}}');
    const turn = await prepareTurn(sessions.get(String(id)), messages, {read, summary, withResult, withBlock: (message, block) => [withBlock(message, block)]});
    return {llmInputMessages: turn.system ? [new SystemMessage(turn.system), ...turn.messages] : turn.messages};
  };
}

/** Returns the ask of a session for a chat model of LangChain. */
export function askWith(model) {
  return async ({system, messages, tools}) => {
    const offered = tools.map(({name, description, inputSchema}) => tool(() => '', {name, description, schema: inputSchema}));
    const asked = offered.length > 0 ? model.bindTools?.(offered) ?? model : model;
    const answer = await asked.invoke([new SystemMessage(system), ...messages.map(write)]);
    return {text: answer.text, toolCalls: (answer.tool_calls ?? []).map((c) => ({id: c.id, name: c.name, input: c.args}))};
  };
}

/** Returns the messages of a thread as a session takes them, for Session.flush and Session.end. */
export function toMessages(messages) {
  return readMessages(messages, read).map(({part}) => part);
}

function read(message) {
  const parts = Array.isArray(message.content) ? message.content : [];
  switch (message.getType()) {
    case 'human': return [{role: 'user', text: message.text, imageCount: parts.filter((p) => /image/.test(p.type)).length}];
    case 'ai': return [{role: 'assistant', text: message.text,
      toolCalls: (message.tool_calls ?? []).map((c) => ({id: c.id, name: c.name, input: c.args}))}];
    case 'tool': return [{role: 'tool', text: message.text, toolCallId: message.tool_call_id, toolName: message.name, failed: message.status === 'error'}];
    default: return [];
  }
}

function write(m) {
  const content = m.text ?? '';
  if (m.role === 'tool') return new ToolMessage({content, tool_call_id: m.toolCallId ?? '', name: m.toolName});
  if (m.role === 'user') return new HumanMessage(content);
  return new AIMessage({content, tool_calls: (m.toolCalls ?? []).map((c) => ({id: c.id, name: c.name ?? '', args: c.input ?? {}}))});
}

const summary = (message) => new HumanMessage(message.text ?? '');

const withResult = (message, _id, text) => new ToolMessage({...message, content: text});

function withBlock(message, block) {
  const parts = typeof message.content === 'string' ? [{type: 'text', text: message.content}] : message.content;
  return new HumanMessage({...message, content: [...parts, {type: 'text', text: block}]});
}
