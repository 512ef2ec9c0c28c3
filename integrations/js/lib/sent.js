import {KiokuError} from './errors.js';

/** @typedef {import('./messages.js').Message & {id: string}} Identified */

/**
 * Remembers what the service was sent in a session, so that each message is sent whole once: afterwards its id stands for it, and two ids
 * for all messages between them.
 */
export class SentMessages {
  /** Ids that the service has. */
  #known = new Set();
  /** Ids of the last call, in order. @type {string[]} */
  #last = [];

  /**
   * Makes a call with messages. If the service does not have one of them any more, such as after a restart, the call is made again.
   * @template R
   * @param {Identified[]} messages
   * @param {(messages: import('./messages.js').Message[]) => Promise<R>} call
   * @returns {Promise<R>}
   */
  async send(messages, call) {
    try {
      return await this.#done(messages, call(this.#shorten(messages)));
    } catch (err) {
      if (!(err instanceof KiokuError) || err.unknownMessages.length === 0) throw err;
      this.#known.clear();
      this.#last = [];
      return this.#done(messages, call(messages));
    }
  }

  /** @template R @param {Identified[]} messages @param {Promise<R>} answer */
  async #done(messages, answer) {
    const result = await answer;
    this.#last = messages.map((m) => m.id);
    for (const id of this.#last) this.#known.add(id);
    return result;
  }

  /** @param {Identified[]} messages @returns {import('./messages.js').Message[]} */
  #shorten(messages) {
    const from = messages.length > 0 ? this.#last.indexOf(messages[0].id) : -1;
    let same = 0;
    while (from >= 0 && same < messages.length && messages[same].id === this.#last[from + same]) same++;
    const rest = messages.slice(same).map((m) => (this.#known.has(m.id) ? {id: m.id} : m));
    return same > 1 ? [{id: messages[0].id, throughId: messages[same - 1].id}, ...rest]
      : messages.slice(0, same).map(({id}) => ({id})).concat(rest);
  }
}
