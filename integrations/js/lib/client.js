import {Session} from './session.js';
import {listTools} from './tools.js';
import {Transport} from './transport.js';

/** Returns a client of the memory service. It connects with the first call, and again when the service was restarted. */
export function connect(options = {}) {
  return new Kioku(options);
}

/** A client of the memory service. index.d.ts says what each method does, and what its options are. */
export class Kioku {
  #transport;

  constructor(options = {}) {
    this.#transport = new Transport(options);
    this.target = this.#transport.target;
  }

  call(route, fields, options) {
    return this.#transport.call(route, fields, options);
  }

  search(query, options) {
    return this.call('POST /v1/search', {...options, query});
  }

  get(path, options) {
    return this.call(`GET /v1/notes/${encodeURIComponent(path)}`, options);
  }

  append(text, options) {
    return this.call('POST /v1/notes', {source: 'agent', ...options, text});
  }

  update(oldText, newText, options) {
    return this.call('POST /v1/notes:update', {source: 'agent', ...options, oldText, newText});
  }

  undo(revision) {
    return this.call('POST /v1/notes:undo', {revision});
  }

  recall(message, options) {
    return this.call('POST /v1/recall', {...options, message});
  }

  prompt(message, options) {
    return this.call('POST /v1/prompt', {...options, message});
  }

  async sync() {
    return (await this.call('POST /v1/sync', {noRebuild: true})).report;
  }

  status() {
    return this.call('GET /v1/status');
  }

  memoryTools(options) {
    return listTools(this, options);
  }

  session(id, options) {
    return new Session(this, id, options);
  }

  close() {
    this.#transport.close();
  }
}
