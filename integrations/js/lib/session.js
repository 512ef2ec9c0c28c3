import {timestampFromMs} from '@bufbuild/protobuf/wkt';
import {identify, newestQuestion, sourceOf} from './messages.js';
import {SentMessages} from './sent.js';
import {shortQuestion} from './shorten.js';
import {warn} from './turn.js';

/** @typedef {import('./messages.js').Message} Message */
/** @typedef {Message & {id: string}} Identified */
/** @typedef {import('../gen/kioku/v1/agent_pb.js').CheckFlushRequest} CheckFlushRequest */

/**
 * One question to the agent's own model.
 * @typedef {object} Question
 * @property {string} system System prompt.
 * @property {Message[]} messages Messages to show, and no others.
 * @property {{name: string, description: string, inputSchema: Record<string, any>}[]} tools Tools to offer, and no others. Their calls are not run.
 * @property {number} [maxTokens] Maximum length of the answer.
 */

/**
 * What the model answered.
 * @typedef {object} Answer
 * @property {string} text
 * @property {{id: string, name: string, input: any}[]} [toolCalls]
 * @property {boolean} [cutOff] The answer ended at its maximum length.
 */

/**
 * Asks the agent's own model. If the question is too long for it, it throws an error with `tooLong: true`; shorter ones follow.
 * @callback Ask
 * @param {Question} question
 * @returns {Promise<Answer>}
 */

/**
 * @typedef {object} SessionOptions
 * @property {Ask} [ask] Asks the agent's own model to make notes and summaries. Without it, the language model of the service does.
 * @property {number} [windowTokens] Context window of the agent's model; otherwise that of the service's model.
 * @property {string} [channel] Channel of the conversation, such as "terminal" or "discord:general".
 * @property {boolean} [group] Several people take part. Unset means that the channel decides.
 * @property {string} [model] Name of the agent's model, for the prompt.
 * @property {string} [mode] Extent of the prompt: "full", "minimal" or "none".
 * @property {(err: Error) => void} [onError] Gets what went wrong while memories were stored or old messages made a summary; the conversation
 *   goes on with the messages that it has. Otherwise it is a warning on the console.
 */

/**
 * What to send to the model.
 * @typedef {object} Turn
 * @property {string} system System prompt. It is constant over a session, unless its files change.
 * @property {string} turnBlock What changes from turn to turn, with the memories: a text block of the newest message of the user, that is
 *   sent and not stored.
 * @property {Message | undefined} summary Summary in place of the messages before keep; unset if there is none.
 * @property {number} keep Index of the first message that stays.
 * @property {Map<number, string>} shortened Texts to send of old results of tools, in place of what they are, by the index of their message.
 * @property {Message[]} messages All this but the turnBlock: the summary and the messages that stay, with ids.
 * @property {import('../gen/kioku/v1/agent_pb.js').RecallReport | undefined} recall What was recalled, and why.
 */

/** How many answers with calls a model may give in a flush. */
const maxRounds = 50;

/** A conversation that loses nothing: before messages leave its window, and when it ends, what matters of them is stored in memory. */
export class Session {
  #client;
  #options;
  #sent;
  #source = 'agent';
  /** @type {{message: Message, firstKeptId: string} | undefined} */
  #summary;
  /** @type {{id?: string, system: string, turnBlock: string, recall: Turn['recall']}} */
  #prompt = {system: '', turnBlock: '', recall: undefined};
  /** Old results of tools that are shortened. @type {import('../gen/kioku/v1/agent_pb.js').PruneEdit[]} */
  #edits = [];
  /** When the model was asked last. @type {import('@bufbuild/protobuf/wkt').Timestamp | undefined} */
  #askedAt;

  /**
   * @param {import('./client.js').Kioku} client
   * @param {string} id Name of the conversation. No other one has it.
   * @param {SessionOptions} [options]
   */
  constructor(client, id, options = {}) {
    this.#client = client;
    this.#options = options;
    this.#sent = new SentMessages((m) => this.#check(m, {}), (err) => this.#report(err));
    /** Name of the conversation. */
    this.id = id;
  }

  /** Who writes a note now: "tool" if the model has read the result of a tool since the newest message of the user, otherwise "agent". */
  get source() {
    return this.#source;
  }

  /**
   * Prepares a request to the model: it stores memories and makes old messages a summary where that is due, and returns what to send. It does
   * not fail if the service is away: what went wrong goes to onError, and the turn has the system prompt of the one before and no memories.
   * @param {Message[]} messages The conversation, the new message of the user last, or behind it calls of tools and their results. Messages
   *   without an id get one that is made of what they say.
   * @param {Partial<Pick<CheckFlushRequest, 'projectedTokens' | 'transcriptBytes' | 'heartbeat' | 'overflow' | 'forced'>>} [due]
   * @returns {Promise<Turn>}
   */
  async before(messages, due = {}) {
    const all = this.#identify(messages);
    await this.#makeRoom(all, due).catch((err) => this.#report(err));
    const {system, turnBlock, recall} = await this.#assemble(all);
    const {summary, keep, messages: sent} = this.#summarized(all);
    await this.#prune(sent);
    const edits = new Map(this.#edits.map((e) => [e.messageId, e.text]));
    const shortened = new Map([...all.keys()].filter((i) => i >= keep && edits.has(all[i].id)).map((i) => [i, edits.get(all[i].id) ?? '']));
    return {system, turnBlock, recall, summary, keep, shortened, messages: sent.map((m) => (edits.has(m.id) ? {...m, text: edits.get(m.id) ?? ''} : m))};
  }

  /**
   * Tells the service of the messages, so that they are stored when the conversation stays idle although nobody ends it.
   * @param {Message[]} messages
   */
  async tell(messages) {
    await this.#sent.send(this.#identify(messages), (m) => this.#check(m, {}));
  }

  /**
   * Stores now what is worth keeping of all messages, and returns the notes.
   * @param {Message[]} messages
   */
  async flush(messages) {
    const all = this.#identify(messages);
    if (this.#options.ask) return this.#flushByOwnModel(all, this.#options.ask);
    const done = await this.#sent.send(all, (m) => this.#client.agents.flush({session: this.id, messages: m, forced: true}));
    if (done.outcome !== 'done') throw new Error(`memories are not stored: ${done.reason}`);
    return done.notes;
  }

  /**
   * Ends the conversation: what is not stored is stored. Without a model it stays on disk until there is one.
   * @param {Message[]} messages
   */
  async end(messages) {
    const all = this.#identify(messages);
    if (this.#options.ask) await this.#flushByOwnModel(all, this.#options.ask).catch((err) => this.#report(err));
    return this.#sent.send(all, (m) => this.#client.agents.endSession({session: this.id, messages: m}));
  }

  /**
   * Returns messages with ids, and with the channel of the conversation if they have none.
   * @param {Message[]} messages
   * @returns {Identified[]}
   */
  #identify(messages) {
    const {channel = ''} = this.#options;
    this.#source = sourceOf(messages);
    return identify(messages).map((m) => (channel && m.role === 'user' ? {...m, channel: m.channel || channel} : m));
  }

  /**
   * Asks what is due, which tells the service of the messages.
   * @param {Message[]} messages
   * @param {object} due
   */
  #check(messages, due) {
    return this.#client.agents.checkFlush({session: this.id, windowTokens: this.#options.windowTokens, messages, ...due});
  }

  /**
   * Does what CheckFlush says.
   * @param {Identified[]} all
   * @param {object} due
   */
  async #makeRoom(all, due) {
    const {messages} = this.#summarized(all);
    const check = await this.#sent.send(messages, (m) => this.#check(m, due));
    if (check.flush) await this.flush(messages).catch((err) => this.#report(err)); // what is not stored stays: a compaction drops nothing of it
    if (check.compact) await this.#compact(messages);
  }

  /**
   * Returns the prompt for the newest question. The further requests of a turn with tools have the same, byte for byte.
   * @param {Identified[]} all
   */
  async #assemble(all) {
    const {index, text} = newestQuestion(all);
    if (index >= 0 && this.#prompt.id === all[index].id) return this.#prompt;
    const {channel, group, model, mode} = this.#options;
    try {
      const {prompt, turnBlock, recall} = await this.#client.prompt(shortQuestion(text), {session: this.id, channel, group, model, mode, author: all[index]?.author});
      this.#prompt = {id: all[index]?.id, system: prompt, turnBlock, recall};
    } catch (err) {
      this.#report(/** @type {Error} */ (err));
      this.#prompt = {system: this.#prompt.system, turnBlock: '', recall: undefined};
    }
    return this.#prompt;
  }

  /**
   * Has it planned which old results of tools are shortened: once the cache of the provider has gone cold, that costs nothing.
   * @param {Identified[]} messages
   */
  async #prune(messages) {
    const {windowTokens} = this.#options;
    const request = {session: this.id, windowTokens, edits: this.#edits, lastTouchTime: this.#askedAt};
    try {
      this.#edits = (await this.#sent.send(messages, (m) => this.#client.agents.prune({...request, messages: m}))).edits;
    } catch (err) {
      this.#report(/** @type {Error} */ (err));
    }
    this.#askedAt = timestampFromMs(Date.now()); // the model is asked now
  }

  /**
   * Shows the model range by range what is not stored, oldest first, and stores the notes that it makes.
   * @param {Identified[]} messages
   * @param {Ask} ask
   */
  async #flushByOwnModel(messages, ask) {
    const {windowTokens} = this.#options;
    const notes = [];
    for (let tooLong = false; ;) {
      const begun = await this.#sent.send(messages, (m) => this.#client.agents.beginFlush({session: this.id, windowTokens, messages: m, tooLong}));
      if (begun.outcome === 'nothing') return notes;
      try {
        const found = await this.#askForNotes(begun, ask);
        notes.push(...(await this.#client.agents.commitFlush({lease: begun.lease, ...found})).notes);
        tooLong = false;
      } catch (err) {
        if (!isTooLong(err) || tooLong && begun.messages.length <= 1) throw err;
        tooLong = true;
      }
    }
  }

  /**
   * Asks the model until it makes no more notes: many models make one call an answer.
   * @param {import('../gen/kioku/v1/agent_pb.js').BeginFlushResponse} begun
   * @param {Ask} ask
   */
  async #askForNotes(begun, ask) {
    const {name = '', description = '', inputSchema = '{}'} = begun.tool ?? {};
    const tools = [{name, description, inputSchema: JSON.parse(inputSchema)}];
    const system = [this.#prompt.system, begun.systemPrompt].filter(Boolean).join('\n\n');
    /** @type {Message[]} */
    const messages = [...begun.messages, {role: 'user', text: begun.userPrompt}];
    /** @type {{text: string, category: string}[]} */
    const notes = [];
    for (let round = 0; round < maxRounds; round++) {
      const {text, toolCalls = [], cutOff} = await ask({system, messages, tools});
      if (toolCalls.length === 0) return {notes, reply: text, unfinished: cutOff};
      notes.push(...toolCalls.map((c) => ({text: String(c.input?.text ?? ''), category: String(c.input?.category ?? '')})));
      messages.push({role: 'assistant', text, toolCalls: toolCalls.map((c) => ({id: c.id, name: c.name, input: JSON.stringify(c.input)}))});
      messages.push(...toolCalls.map((c) => ({role: 'tool', text: 'saved', toolCallId: c.id, toolName: c.name})));
    }
    return {notes, reply: '', unfinished: true};
  }

  /** @param {Identified[]} messages */
  async #compact(messages) {
    const {ask, windowTokens} = this.#options;
    const done = ask ? await this.#compactByOwnModel(messages, ask)
      : await this.#sent.send(messages, (m) => this.#client.agents.compact({session: this.id, windowTokens, messages: m}));
    if (done.outcome !== 'compacted' || !done.message) throw new Error(`no messages are made a summary: ${done.reason}`);
    this.#summary = {message: done.message, firstKeptId: done.firstKeptId ?? ''};
  }

  /**
   * @param {Identified[]} messages
   * @param {Ask} ask
   * @returns {Promise<{outcome: string, reason: string, message?: Message, firstKeptId?: string}>}
   */
  async #compactByOwnModel(messages, ask) {
    const {windowTokens} = this.#options;
    const {lease, step: first, outcome, reason} = await this.#sent.send(messages,
      (m) => this.#client.agents.beginCompact({session: this.id, windowTokens, messages: m}));
    for (let step = first; step;) {
      const answer = await askForSummary(step, ask);
      const done = await this.#client.agents.commitCompact({lease, stepNumber: step.number, ...answer});
      if (done.compacted) return done.compacted;
      step = done.step;
    }
    return {outcome, reason};
  }

  /**
   * Returns messages with the last summary in place of those that it is made of.
   * @param {Identified[]} all
   */
  #summarized(all) {
    const keep = this.#summary ? all.findIndex((m) => m.id === this.#summary?.firstKeptId) : -1;
    if (!this.#summary || keep <= 0) return {summary: undefined, keep: 0, messages: all};
    const summary = /** @type {Identified} */ (this.#summary.message);
    return {summary, keep, messages: [summary, ...all.slice(keep)]};
  }

  /** @param {Error} err */
  #report(err) {
    (this.#options.onError ?? warn)(err);
  }
}

/**
 * @param {import('../gen/kioku/v1/agent_pb.js').CompactStep} step
 * @param {Ask} ask
 */
async function askForSummary(step, ask) {
  try {
    const {text, cutOff} = await ask({system: step.systemPrompt, messages: step.messages, tools: [], maxTokens: step.maxTokens});
    return {answer: text, cutOff};
  } catch (err) {
    if (isTooLong(err)) return {tooLong: true};
    throw err;
  }
}

/** @param {unknown} err */
function isTooLong(err) {
  return Boolean(/** @type {{tooLong?: boolean}} */ (err)?.tooLong);
}
