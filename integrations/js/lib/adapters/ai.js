// Memory for the Vercel AI SDK: tools, recall, and conversations that lose nothing.
import {generateText, jsonSchema, tool} from 'ai';
import {sourceOf} from '../messages.js';
import {prepareTurn, readMessages, recallBlock} from '../turn.js';

/** Returns the memory tools for generateText, streamText and agents. */
export async function memoryTools(kioku, options) {
  const tools = await kioku.memoryTools(options);
  return Object.fromEntries(tools.map(({name, description, inputSchema, call}) => [name, tool({
    description,
    inputSchema: jsonSchema(inputSchema),
    execute: async (input, {messages = []} = {}) => {
      const {output, failed} = await call(input, {source: sourceOf(toMessages(messages))});
      if (failed) throw new Error(output);
      return output;
    },
  })]));
}

/** Returns middleware for wrapLanguageModel that adds to the newest message of the user what memory has about it. */
export function recallMiddleware(kioku, options) {
  return {
    specificationVersion: 'v4',
    async transformParams({params}) {
      const at = params.prompt.map((m) => m.role).lastIndexOf('user');
      const block = at < 0 ? '' : await recallBlock(kioku, textOf(params.prompt[at].content), options);
      return block ? {...params, prompt: params.prompt.with(at, withBlock(params.prompt[at], block))} : params;
    },
  };
}

/**
 * Returns a prepareStep that makes the conversation one that loses nothing: it adds the system prompt of the workspace and what is recalled,
 * stores memories, and sends a summary in place of old messages. What you store of the conversation stays as it is.
 */
export function remember(session) {
  return async ({stepNumber, messages, initialInstructions}) => {
    if (stepNumber > 0) return {}; // the first step's messages carry forward
    const turn = await prepareTurn(session, messages, {read, summary, withResult, withBlock: (message, block) => [withBlock(message, block)]});
    const own = [initialInstructions ?? []].flat().map((i) => (typeof i === 'string' ? {role: 'system', content: i} : i));
    return {messages: turn.messages, instructions: turn.system ? [...own, {role: 'system', content: turn.system}] : own};
  };
}

/** Returns the messages of a conversation as a session takes them, for Session.flush and Session.end. */
export function toMessages(messages) {
  return readMessages(messages, read).map(({part}) => part);
}

/** Returns the ask of a session for a model of the AI SDK. */
export function askWith(model) {
  return async ({system, messages, tools, maxTokens}) => {
    const offered = tools.map((t) => [t.name, tool({description: t.description, inputSchema: jsonSchema(t.inputSchema)})]);
    const {text, toolCalls} = await generateText({
      model, instructions: system, messages: messages.map(write), maxOutputTokens: maxTokens, tools: Object.fromEntries(offered),
    });
    return {text, toolCalls: toolCalls.map((c) => ({id: c.toolCallId, name: c.toolName, input: c.input}))};
  };
}

function textOf(content) {
  return typeof content === 'string' ? content : content.flatMap((p) => (p.type === 'text' ? [p.text] : [])).join('\n');
}

function read({role, content}) {
  const parts = typeof content === 'string' ? [] : content;
  if (role === 'user') {
    return [{role, text: textOf(content), imageCount: parts.filter((p) => ['image', 'file'].includes(p.type)).length}];
  }
  if (role === 'assistant') {
    const calls = parts.filter((p) => p.type === 'tool-call');
    return [{role, text: textOf(content), toolCalls: calls.map((c) => ({id: c.toolCallId, name: c.toolName, input: c.input}))}];
  }
  if (role !== 'tool') return [];
  return parts.filter((p) => p.type === 'tool-result').map(({toolCallId, toolName, output}) => ({
    role, toolCallId, toolName, failed: output.type.startsWith('error'), text: typeof output.value === 'string' ? output.value : JSON.stringify(output.value),
  }));
}

function write(m) {
  if (m.role === 'tool') {
    return {role: 'tool', content: [{type: 'tool-result', toolCallId: m.toolCallId, toolName: m.toolName, output: {type: 'text', value: m.text}}]};
  }
  const calls = (m.toolCalls ?? []).map((c) => ({type: 'tool-call', toolCallId: c.id, toolName: c.name, input: c.input ?? {}}));
  return {role: m.role, content: [...(m.text ? [{type: 'text', text: m.text}] : []), ...calls]};
}

const summary = (message) => ({role: message.role, content: message.text});

function withResult(message, id, text) {
  const short = (part) => (part.toolCallId === id ? {...part, output: {type: 'text', value: text}} : part);
  return {...message, content: message.content.map(short)};
}

function withBlock(message, block) {
  const parts = typeof message.content === 'string' ? [{type: 'text', text: message.content}] : message.content;
  return {...message, content: [...parts, {type: 'text', text: block}]};
}
