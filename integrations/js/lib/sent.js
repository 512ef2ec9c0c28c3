import {KiokuError} from './errors.js';
import {shortMessage, sizeOf} from './shorten.js';

/** Maximum size in bytes of the messages of a request, and of all messages that the service remembers of a session. */
const maxRequest = 3 << 20;
const maxSession = 12 << 20;

/** Maximum number of messages of a session. */
const maxMessages = 20_000;

/**
 * Remembers what the service was sent in a session, so that each message is sent whole once: afterwards its id stands for it, and two ids
 * for all messages between them. Messages that are too long for one request are sent in parts.
 */
export class SentMessages {
  /** Ids that the service has. */
  #known = new Set();
  /** Ids of the last call, in order. */
  #last = [];
  #tell;
  #report;
  #reported = false;

  /**
   * @param tell Makes a call that does nothing but tell the service of messages.
   * @param report Gets told once that a session is too long.
   */
  constructor(tell, report) {
    this.#tell = tell;
    this.#report = report;
  }

  /** Makes a call with messages. If the service does not have one of them any more, such as after a restart, the call is made again. */
  async send(messages, call) {
    const latest = this.#newest(messages);
    try {
      return await this.#inParts(latest, call);
    } catch (err) {
      if (!(err instanceof KiokuError) || err.reason !== 'UNKNOWN_MESSAGES') throw err;
      this.#known.clear();
      this.#last = [];
      return this.#inParts(latest, call);
    }
  }

  async #inParts(messages, call) {
    for (let size = 0, i = 0; i < messages.length; i++) {
      if (this.#known.has(messages[i].id)) continue;
      const bytes = sizeOf(shortMessage(messages[i]));
      if (size > 0 && size + bytes > maxRequest) {
        await this.#done(messages.slice(0, i), this.#tell);
        size = 0;
      }
      size += bytes;
    }
    return this.#done(messages, call);
  }

  async #done(messages, call) {
    const result = await call(this.#shorten(messages));
    this.#last = messages.map((m) => m.id);
    for (const id of this.#last) this.#known.add(id);
    return result;
  }

  #shorten(messages) {
    const from = messages.length > 0 ? this.#last.indexOf(messages[0].id) : -1;
    let same = 0;
    while (from >= 0 && same < messages.length && messages[same].id === this.#last[from + same]) same++;
    const rest = messages.slice(same).map((m) => (this.#known.has(m.id) ? {id: m.id} : shortMessage(m)));
    return same > 1 ? [{id: messages[0].id, throughId: messages[same - 1].id}, ...rest]
      : messages.slice(0, same).map(({id}) => ({id})).concat(rest);
  }

  /** Returns the newest messages that a session may have. Those before them were stored when they were sent, unless the first call has too many. */
  #newest(messages) {
    let from = messages.length;
    for (let size = 0; from > 0 && messages.length - from < maxMessages; from--) {
      size += sizeOf(shortMessage(messages[from - 1]));
      if (size > maxSession) break;
    }
    if (from > 0 && !this.#reported) {
      this.#reported = true;
      this.#report(new Error(`of ${messages.length} messages the newest ${messages.length - from} are sent: a session takes ${maxMessages}, and 12 MiB; begin a new one`));
    }
    return from > 0 ? messages.slice(from) : messages;
  }
}
