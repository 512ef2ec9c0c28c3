import {identify, newestQuestion, sourceOf} from './messages.js';
import {SentMessages} from './sent.js';
import {shortQuestion} from './shorten.js';
import {warn} from './turn.js';

/** How many answers with calls a model may give in a flush. */
const maxRounds = 50;

/** A conversation that loses nothing: before messages leave its window, and when it ends, what matters of them is stored in memory. */
export class Session {
  #client;
  #options;
  #sent;
  #source = 'agent';
  #summary;
  #prompt = {system: '', turnBlock: '', recall: undefined};
  /** Old results of tools that are shortened. */
  #edits = [];
  /** When the model was asked last. */
  #askedAt;

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
   * @param messages The conversation, the new message of the user last, or behind it calls of tools and their results. Messages
   *   without an id get one that is made of what they say.
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

  /** Tells the service of the messages, so that they are stored when the conversation stays idle although nobody ends it. */
  async tell(messages) {
    await this.#sent.send(this.#identify(messages), (m) => this.#check(m, {}));
  }

  /** Stores now what is worth keeping of all messages, and returns the notes. */
  async flush(messages) {
    const all = this.#identify(messages);
    if (this.#options.ask) return this.#flushByOwnModel(all, this.#options.ask);
    const done = await this.#sent.send(all, (m) => this.#client.call('POST /v1/flush', {session: this.id, messages: m, forced: true}));
    if (done.outcome !== 'done') throw new Error(`memories are not stored: ${done.reason}`);
    return done.notes ?? [];
  }

  /** Ends the conversation: what is not stored is stored. Without a model it stays on disk until there is one. */
  async end(messages) {
    const all = this.#identify(messages);
    if (this.#options.ask) await this.#flushByOwnModel(all, this.#options.ask).catch((err) => this.#report(err));
    return this.#sent.send(all, (m) => this.#client.call('POST /v1/sessions:end', {session: this.id, messages: m}));
  }

  /** Returns messages with ids, and with the channel of the conversation if they have none. */
  #identify(messages) {
    const {channel = ''} = this.#options;
    this.#source = sourceOf(messages);
    return identify(messages).map((m) => (channel && m.role === 'user' ? {...m, channel: m.channel || channel} : m));
  }

  /** Asks what is due, which tells the service of the messages. */
  #check(messages, due) {
    return this.#client.call('POST /v1/flush:check', {session: this.id, windowTokens: this.#options.windowTokens, messages, ...due});
  }

  /** Does what the check says. */
  async #makeRoom(all, due) {
    const {messages} = this.#summarized(all);
    const check = await this.#sent.send(messages, (m) => this.#check(m, due));
    if (check.flush) await this.flush(messages).catch((err) => this.#report(err)); // what is not stored stays: a compaction drops nothing of it
    if (check.compact) await this.#compact(messages);
  }

  /** Returns the prompt for the newest question. The further requests of a turn with tools have the same, byte for byte. */
  async #assemble(all) {
    const {index, text} = newestQuestion(all);
    if (index >= 0 && this.#prompt.id === all[index].id) return this.#prompt;
    const {channel, group, model, mode} = this.#options;
    try {
      const {prompt, turnBlock, recall} = await this.#client.prompt(shortQuestion(text), {session: this.id, channel, group, model, mode, author: all[index]?.author});
      this.#prompt = {id: all[index]?.id, system: prompt, turnBlock, recall};
    } catch (err) {
      this.#report(err);
      this.#prompt = {system: this.#prompt.system, turnBlock: '', recall: undefined};
    }
    return this.#prompt;
  }

  /** Has it planned which old results of tools are shortened: once the cache of the provider has gone cold, that costs nothing. */
  async #prune(messages) {
    const {windowTokens} = this.#options;
    const request = {session: this.id, windowTokens, edits: this.#edits, lastTouchTime: this.#askedAt};
    try {
      this.#edits = (await this.#sent.send(messages, (m) => this.#client.call('POST /v1/prune', {...request, messages: m}))).edits ?? [];
    } catch (err) {
      this.#report(err);
    }
    this.#askedAt = new Date(Date.now()); // the model is asked now
  }

  /** Shows the model range by range what is not stored, oldest first, and stores the notes that it makes. */
  async #flushByOwnModel(messages, ask) {
    const {windowTokens} = this.#options;
    const notes = [];
    for (let tooLong = false; ;) {
      const begun = await this.#sent.send(messages, (m) => this.#client.call('POST /v1/flush:begin', {session: this.id, windowTokens, messages: m, tooLong}));
      if (begun.outcome === 'nothing') return notes;
      try {
        const found = await this.#askForNotes(begun, ask);
        notes.push(...(await this.#client.call('POST /v1/flush:commit', {lease: begun.lease, ...found})).notes ?? []);
        tooLong = false;
      } catch (err) {
        if (!isTooLong(err) || tooLong && begun.messages.length <= 1) throw err;
        tooLong = true;
      }
    }
  }

  /** Asks the model until it makes no more notes: many models make one call an answer. */
  async #askForNotes(begun, ask) {
    const system = [this.#prompt.system, begun.systemPrompt].filter(Boolean).join('\n\n');
    const messages = [...begun.messages, {role: 'user', text: begun.userPrompt}];
    const notes = [];
    for (let round = 0; round < maxRounds; round++) {
      const {text, toolCalls = [], cutOff} = await ask({system, messages, tools: [begun.tool]});
      if (toolCalls.length === 0) return {notes, reply: text, unfinished: cutOff};
      notes.push(...toolCalls.map((c) => ({text: String(c.input?.text ?? ''), category: String(c.input?.category ?? '')})));
      messages.push({role: 'assistant', text, toolCalls: toolCalls.map(({id, name, input}) => ({id, name, input}))});
      messages.push(...toolCalls.map((c) => ({role: 'tool', text: 'saved', toolCallId: c.id, toolName: c.name})));
    }
    return {notes, reply: '', unfinished: true};
  }

  async #compact(messages) {
    const {ask, windowTokens} = this.#options;
    const done = ask ? await this.#compactByOwnModel(messages, ask)
      : await this.#sent.send(messages, (m) => this.#client.call('POST /v1/compact', {session: this.id, windowTokens, messages: m}));
    if (done.outcome !== 'compacted' || !done.message) throw new Error(`no messages are made a summary: ${done.reason}`);
    this.#summary = {message: done.message, firstKeptId: done.firstKeptId ?? ''};
  }

  async #compactByOwnModel(messages, ask) {
    const {windowTokens} = this.#options;
    const {lease, step: first, outcome, reason} = await this.#sent.send(messages,
      (m) => this.#client.call('POST /v1/compact:begin', {session: this.id, windowTokens, messages: m}));
    for (let step = first; step;) {
      const answer = await askForSummary(step, ask);
      const done = await this.#client.call('POST /v1/compact:commit', {lease, stepNumber: step.number, ...answer});
      if (done.compacted) return done.compacted;
      step = done.step;
    }
    return {outcome, reason};
  }

  /** Returns messages with the last summary in place of those that it is made of. */
  #summarized(all) {
    const keep = this.#summary ? all.findIndex((m) => m.id === this.#summary?.firstKeptId) : -1;
    if (!this.#summary || keep <= 0) return {summary: undefined, keep: 0, messages: all};
    const summary = this.#summary.message;
    return {summary, keep, messages: [summary, ...all.slice(keep)]};
  }

  #report(err) {
    (this.#options.onError ?? warn)(err);
  }
}

async function askForSummary(step, ask) {
  try {
    const {text, cutOff} = await ask({system: step.systemPrompt, messages: step.messages, tools: [], maxTokens: step.maxTokens});
    return {answer: text, cutOff};
  } catch (err) {
    if (isTooLong(err)) return {tooLong: true};
    throw err;
  }
}

function isTooLong(err) {
  return Boolean(err?.tooLong);
}
