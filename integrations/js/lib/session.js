import {identify, newestQuestion} from './messages.js';
import {warn} from './turn.js';

/** @typedef {import('./messages.js').Message} Message */
/** @typedef {import('../gen/kioku/v1/agent_pb.js').CompactStep} CompactStep */

/**
 * One question to the agent's own model.
 * @typedef {object} Question
 * @property {string} system System prompt.
 * @property {Message[]} messages Messages to show, and no others.
 * @property {{name: string, description: string, inputSchema: Record<string, any>}[]} tools Tools to offer, and no others.
 * @property {number} [maxTokens] Maximum length of the answer.
 */

/**
 * What the model answered. Its calls are not run: they are what the session asked for.
 * @typedef {object} Answer
 * @property {string} text
 * @property {{id: string, name: string, input: any}[]} [toolCalls]
 */

/**
 * @typedef {object} SessionOptions
 * @property {(question: Question) => Promise<Answer>} [ask] Asks the agent's own model. If the question is too long for it, it throws an
 *   error with `tooLong: true`. Without ask, the language model of the service does the work.
 * @property {number} [windowTokens] Context window of the agent's model; otherwise that of the service's model.
 * @property {string} [channel] Channel of the conversation, such as "terminal" or "discord:general".
 * @property {boolean} [group] Several people take part. Unset means that the channel decides.
 * @property {string} [model] Name of the agent's model, for the prompt.
 * @property {string} [mode] Extent of the prompt: "full", "minimal" or "none".
 * @property {(err: Error) => void} [onError] Gets what went wrong while memories were stored or old messages made a summary; the conversation
 *   goes on with the messages that it has. Otherwise it is a warning on the console.
 */

/**
 * What to send to the model in a turn.
 * @typedef {object} Turn
 * @property {string} system System prompt. It is constant over a session, unless its files change.
 * @property {string} turnBlock What changes from turn to turn, with the memories: a text block of the newest message of the user, that is
 *   sent and not stored.
 * @property {Message | undefined} summary Summary in place of the messages before keep; unset if there is none.
 * @property {number} keep Index of the first message that stays.
 * @property {Message[]} messages The summary and the messages that stay, with ids.
 * @property {import('../gen/kioku/v1/agent_pb.js').RecallReport | undefined} recall What was recalled, and why.
 */

/** How many answers with calls a model may give in a flush. */
const maxRounds = 50;

/** A conversation that loses nothing: before messages leave its window, and when it ends, what matters of them is stored in memory. */
export class Session {
  #client;
  #options;
  /** @type {{message: Message, firstKeptId: string} | undefined} */
  #summary;
  #system = '';

  /**
   * @param {import('./client.js').Kioku} client
   * @param {string} id Name of the conversation. No other one has it.
   * @param {SessionOptions} [options]
   */
  constructor(client, id, options = {}) {
    this.#client = client;
    this.#options = options;
    /** Name of the conversation. */
    this.id = id;
  }

  /**
   * Prepares a turn: it stores memories and makes old messages a summary where that is due, and returns what to send. It does not fail if the
   * service is away: what went wrong goes to onError, and the turn has the system prompt of the one before and no memories.
   * @param {Message[]} messages The conversation, the new message of the user last. Messages without an id get one.
   * @param {{projectedTokens?: number, overflow?: boolean, forced?: boolean, heartbeat?: boolean}} [due] Expected tokens of the request, as
   *   the provider counts them; whether the model refused a request as too long; and so on as in CheckFlushRequest.
   * @returns {Promise<Turn>}
   */
  async before(messages, due = {}) {
    const all = identify(messages);
    await this.#makeRoom(all, due).catch((err) => this.#tell(err));
    return {...await this.#prompt(newestQuestion(all).text), ...this.#shortened(all)};
  }

  /**
   * Stores what is worth keeping of all messages, and returns the notes.
   * @param {Message[]} messages
   */
  async flush(messages) {
    const all = identify(messages);
    if (this.#options.ask) return this.#flushByOwnModel(all, this.#options.ask);
    const done = await this.#client.agents.flush({session: this.id, messages: all});
    if (done.outcome !== 'done') throw new Error(`memories are not stored: ${done.reason}`);
    return done.notes;
  }

  /**
   * Ends the conversation: what is not stored is stored. Without a model it stays on disk until there is one.
   * @param {Message[]} messages
   */
  async end(messages) {
    const all = identify(messages);
    if (this.#options.ask) await this.#flushByOwnModel(all, this.#options.ask).catch((err) => this.#tell(err));
    return this.#client.agents.endSession({session: this.id, messages: all});
  }

  /** @param {string} message */
  async #prompt(message) {
    const {channel, group, model, mode} = this.#options;
    try {
      const {prompt, turnBlock, recall} = await this.#client.prompt(message, {session: this.id, channel, group, model, mode});
      this.#system = prompt;
      return {system: prompt, turnBlock, recall};
    } catch (err) {
      this.#tell(/** @type {Error} */ (err));
      return {system: this.#system, turnBlock: '', recall: undefined};
    }
  }

  /** @param {(Message & {id: string})[]} all @param {object} due */
  async #makeRoom(all, due) {
    const {windowTokens} = this.#options;
    const request = {session: this.id, windowTokens, messages: this.#shortened(all).messages};
    const {flush, compact} = await this.#client.agents.checkFlush({...request, ...due});
    if (flush) await this.flush(request.messages).catch((err) => this.#tell(err)); // what is not stored stays: a compaction drops nothing of it
    if (compact) await this.#compact(request);
  }

  /**
   * @param {Message[]} messages
   * @param {(question: Question) => Promise<Answer>} ask
   */
  async #flushByOwnModel(messages, ask) {
    const request = {session: this.id, messages, windowTokens: this.#options.windowTokens};
    const notes = [];
    for (let tooLong = false; ;) {
      const begun = await this.#client.agents.beginFlush({...request, tooLong});
      if (begun.outcome === 'nothing') return notes;
      try {
        const found = await this.#askForNotes(begun, ask);
        notes.push(...(await this.#client.agents.commitFlush({lease: begun.lease, ...found})).notes);
        tooLong = false;
      } catch (err) {
        if (tooLong || !(/** @type {any} */ (err).tooLong)) throw err;
        tooLong = true;
      }
    }
  }

  /**
   * Asks the model until it makes no more notes.
   * @param {import('../gen/kioku/v1/agent_pb.js').BeginFlushResponse} begun
   * @param {(question: Question) => Promise<Answer>} ask
   */
  async #askForNotes(begun, ask) {
    const {name = '', description = '', inputSchema = '{}'} = begun.tool ?? {};
    const tools = [{name, description, inputSchema: JSON.parse(inputSchema)}];
    const system = [this.#system, begun.systemPrompt].filter(Boolean).join('\n\n');
    /** @type {Message[]} */
    const messages = [...begun.messages, {role: 'user', text: begun.userPrompt}];
    /** @type {any[]} */
    const notes = [];
    for (let round = 0; round < maxRounds; round++) {
      const {text, toolCalls = []} = await ask({system, messages, tools});
      if (toolCalls.length === 0) return {notes, reply: text};
      notes.push(...toolCalls.map((c) => ({text: String(c.input?.text ?? ''), category: String(c.input?.category ?? '')})));
      messages.push({role: 'assistant', text, toolCalls: toolCalls.map((c) => ({id: c.id, name: c.name, input: JSON.stringify(c.input)}))});
      messages.push(...toolCalls.map((c) => ({role: 'tool', text: 'saved', toolCallId: c.id, toolName: c.name})));
    }
    return {notes, reply: '', unfinished: true};
  }

  /** @param {{session: string, messages: Message[], windowTokens?: number}} request */
  async #compact(request) {
    const done = this.#options.ask ? await this.#compactByOwnModel(request, this.#options.ask) : await this.#client.agents.compact(request);
    if (done?.outcome === 'compacted' && done.message) this.#summary = {message: done.message, firstKeptId: done.firstKeptId};
  }

  /**
   * @param {{session: string, messages: Message[], windowTokens?: number}} request
   * @param {(question: Question) => Promise<Answer>} ask
   */
  async #compactByOwnModel(request, ask) {
    const begun = await this.#client.agents.beginCompact(request);
    let step = begun.step;
    while (step) {
      const {text} = await ask({system: step.systemPrompt, messages: step.messages, tools: [], maxTokens: step.maxTokens});
      const done = await this.#client.agents.commitCompact({lease: begun.lease, answer: text});
      if (done.outcome === 'compacted') return done.compacted;
      step = done.step;
    }
  }

  /**
   * Returns messages with the last summary in place of those that it is made of.
   * @param {(Message & {id: string})[]} all
   */
  #shortened(all) {
    const keep = this.#summary ? all.findIndex((m) => m.id === this.#summary?.firstKeptId) : -1;
    if (!this.#summary || keep <= 0) return {summary: undefined, keep: 0, messages: all};
    return {summary: this.#summary.message, keep, messages: [this.#summary.message, ...all.slice(keep)]};
  }

  /** @param {Error} err */
  #tell(err) {
    (this.#options.onError ?? warn)(err);
  }
}
