import {Session} from './session.js';
import {listTools} from './tools.js';
import {Transport} from './transport.js';

/** Returns a client of the memory service. It connects with the first call, and again when the service was restarted. */
export function connect(options = {}) {
  return new Kioku(options);
}

/** A client of the memory service. index.d.ts has the types, and what each option is. */
export class Kioku {
  #transport;

  constructor(options = {}) {
    this.#transport = new Transport(options);
    /** Where the service is. */
    this.target = this.#transport.target;
  }

  /** Makes any call of the HTTP API, such as `call('POST /v1/notes:undo', {revision})`. Names of fields and of the answer are in camelCase. */
  call(route, fields, options) {
    return this.#transport.call(route, fields, options);
  }

  /** Returns the passages that best answer a query in any language, best first. */
  search(query, options) {
    return this.call('POST /v1/search', {...options, query});
  }

  /** Returns lines of a memory file. */
  get(path, options) {
    return this.call(`GET /v1/notes/${encodeURIComponent(path)}`, options);
  }

  /** Adds a note to today's file, or to MEMORY.md with target "long_term". It returns its place. */
  append(text, options) {
    return this.call('POST /v1/notes', {source: 'agent', ...options, text});
  }

  /** Replaces a text of MEMORY.md, or of another file that is not of a day. It returns a revision, for undo. */
  update(oldText, newText, options) {
    return this.call('POST /v1/notes:update', {source: 'agent', ...options, oldText, newText});
  }

  /** Takes an update back, the latest one unless a revision is given. */
  undo(revision) {
    return this.call('POST /v1/notes:undo', {revision});
  }

  /** Returns what memory has about a message: `block` for a prompt, empty if there is nothing, and a report. */
  recall(message, options) {
    return this.call('POST /v1/recall', {...options, message});
  }

  /** Returns the system prompt of a session, and what changes from turn to turn: `turnBlock`, a text block for the message of the user. */
  prompt(message, options) {
    return this.call('POST /v1/prompt', {...options, message});
  }

  /** Waits until every change of the notes can be found, and returns a report. */
  async sync() {
    return (await this.call('POST /v1/sync', {noRebuild: true})).report;
  }

  /** Returns the state of the index. */
  status() {
    return this.call('GET /v1/status');
  }

  /** Returns the memory tools of a conversation, for a model of any provider. */
  memoryTools(options) {
    return listTools(this, options);
  }

  /** Returns a conversation whose messages are stored in memory before they leave its window, and when it ends. */
  session(id, options) {
    return new Session(this, id, options);
  }

  /** Closes the connections. A program may also end without it. */
  close() {
    this.#transport.close();
  }
}
