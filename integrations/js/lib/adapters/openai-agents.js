// Memory for the OpenAI Agents SDK: tools, and a Session that loses nothing.
import {MemorySession, tool} from '@openai/agents';
import {prepareTurn, readMessages} from '../turn.js';

/** How many blocks of text a session remembers to have added. */
const maxBlocks = 100;

/**
 * Returns the memory tools for an Agent. With the KiokuSession of the run as the option `session`, notes say whether they may come from results
 * of other tools.
 */
export async function memoryTools(kioku, options) {
  const tools = await kioku.memoryTools(options);
  return tools.map(({name, description, inputSchema, call}) => tool({
    name, description, strict: false,
    parameters: {required: [], ...inputSchema, additionalProperties: true}, // the service refuses what it does not know, with a hint
    execute: async (input) => (await call(input)).output,
  }));
}

/**
 * A Session whose conversation loses nothing. It keeps the items in another Session, and prepares each turn as the input filter of the run:
 * `run(agent, input, {session, callModelInputFilter: session.filter})`.
 */
export class KiokuSession {
  #session;
  #items;
  /** The latest blocks that the filter has added: the SDK may store an item of a run after another run began. */
  #blocks = [];

  /** The items are in the memory of this process, unless another Session is given. */
  constructor(session, items = new MemorySession({sessionId: session.id})) {
    this.#session = session;
    this.#items = items;
  }

  /** The system prompt of the workspace, what is recalled, and a summary in place of old items, for each request to the model. */
  filter = async ({modelData: {input, instructions}}) => {
    const items = typeof input === 'string' ? [{type: 'message', role: 'user', content: input}] : input;
    const turn = await prepareTurn(this.#session, items, {read, summary, withResult, withBlock});
    if (turn.turnBlock) this.#blocks = [...this.#blocks, turn.turnBlock].slice(-maxBlocks);
    return {input: turn.messages, instructions: [instructions, turn.system].filter(Boolean).join('\n\n')};
  };

  /** Who writes a note now, for memoryTools(kioku, {session}): "tool" if the model has read results of other tools in this turn. */
  get source() {
    return this.#session.source;
  }

  getSessionId() {
    return this.#items.getSessionId();
  }

  getItems(limit) {
    return this.#items.getItems(limit);
  }

  /** Adds items, without the ones that the filter has added. */
  addItems(items) {
    return this.#items.addItems(items.filter((item) => !this.#blocks.includes(textOf(item.content))));
  }

  popItem() {
    return this.#items.popItem();
  }

  /** Ends the conversation: what is not stored of it is stored, and then the items go. If that fails, it throws, and the items stay. */
  async clearSession() {
    await this.end();
    await this.#items.clearSession();
  }

  /** Ends the conversation: what is not stored of it is stored. */
  async end() {
    return this.#session.end(readMessages(await this.getItems(), read).map(({part}) => part));
  }
}

function read(item) {
  const {type = 'message', role, content, callId, name, output} = item;
  if (type === 'function_call') return [{role: 'assistant', toolCalls: [{id: callId, name, input: item.arguments}]}];
  if (type === 'function_call_result') return [{role: 'tool', toolCallId: callId, toolName: name, text: output?.text ?? JSON.stringify(output)}];
  if (type !== 'message' || role === 'system') return [];
  const images = typeof content === 'string' ? [] : content.filter((p) => p.type === 'input_image');
  return [{role, text: textOf(content), imageCount: images.length}];
}

const summary = (message) => ({type: 'message', role: 'user', content: message.text});

const withResult = (item, _id, text) => ({...item, output: {type: 'text', text}});

/** The block is an item of its own: the SDK stores a new item only if the filter leaves it as it is. */
const withBlock = (item, block) => [item, {type: 'message', role: 'user', content: block}];

function textOf(content) {
  return typeof content === 'string' ? content : (content ?? []).flatMap((p) => p.text ?? []).join('\n');
}
