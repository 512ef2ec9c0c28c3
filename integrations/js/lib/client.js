import {AgentService} from '../gen/kioku/v1/agent_pb.js';
import {MemoryService} from '../gen/kioku/v1/memory_pb.js';
import {openConnection} from './connection.js';
import {bindService} from './service.js';
import {Session} from './session.js';
import {listTools} from './tools.js';

/**
 * The fields of a request that a method of the client does not take as arguments.
 * @template {import('@bufbuild/protobuf').DescMessage} D
 * @template {string} K
 * @typedef {Omit<import('@bufbuild/protobuf').MessageInitShape<D>, K | '$typeName' | '$unknown'>} Fields
 */

/**
 * Returns a client of the memory service. It connects with the first call, and again when the service was restarted.
 * @param {import('./connection.js').ConnectOptions} [options]
 */
export function connect(options = {}) {
  return new Kioku(options);
}

/** A client of the memory service. */
export class Kioku {
  /** @type {ReturnType<typeof openConnection>} */
  #connection;

  /** @param {import('./connection.js').ConnectOptions} [options] */
  constructor(options = {}) {
    this.#connection = openConnection(options);
    const {transport, target} = this.#connection;
    const bound = {transport, target, agent: options.agent ?? process.env.KIOKU_AGENT, timeoutMs: options.timeoutMs ?? 30_000};
    /** Where the service is. */
    this.target = target;
    /** Every call of MemoryService. */
    this.memory = bindService(MemoryService, bound);
    /** Every call of AgentService. */
    this.agents = bindService(AgentService, bound);
  }

  /**
   * Returns the passages that best answer a query in any language, best first.
   * @param {string} query
   * @param {Fields<typeof import('../gen/kioku/v1/memory_pb.js').MemorySearchRequestSchema, 'query'>} [options]
   */
  search(query, options) {
    return this.memory.memorySearch({...options, query});
  }

  /**
   * Returns lines of a memory file.
   * @param {string} path
   * @param {Fields<typeof import('../gen/kioku/v1/memory_pb.js').MemoryGetRequestSchema, 'path'>} [options]
   */
  get(path, options) {
    return this.memory.memoryGet({...options, path});
  }

  /**
   * Adds a note to today's file, or to MEMORY.md with target "long_term". It returns its place.
   * @param {string} text
   * @param {Fields<typeof import('../gen/kioku/v1/memory_pb.js').MemoryAppendRequestSchema, 'text'>} [options]
   */
  append(text, options) {
    return this.memory.memoryAppend({source: 'agent', ...options, text});
  }

  /**
   * Replaces a text of MEMORY.md, or of another file that is not of a day. It returns a revision, for `memory.memoryUndo`.
   * @param {string} oldText Text that occurs once in the file.
   * @param {string} newText Text in its place; empty removes the old one.
   * @param {Fields<typeof import('../gen/kioku/v1/memory_pb.js').MemoryUpdateRequestSchema, 'oldText' | 'newText'>} [options]
   */
  update(oldText, newText, options) {
    return this.memory.memoryUpdate({source: 'agent', ...options, oldText, newText});
  }

  /**
   * Returns what memory has about a message: `block` for a prompt, empty if there is nothing, and a report.
   * @param {string} message
   * @param {Fields<typeof import('../gen/kioku/v1/agent_pb.js').RecallRequestSchema, 'message'>} [options]
   */
  recall(message, options) {
    return this.agents.recall({...options, message});
  }

  /**
   * Returns the system prompt of a session, and what changes from turn to turn: `turnBlock`, a text block for the message of the user.
   * @param {string} message
   * @param {Fields<typeof import('../gen/kioku/v1/agent_pb.js').AssemblePromptRequestSchema, 'message'>} [options]
   */
  prompt(message, options) {
    return this.agents.assemblePrompt({...options, message});
  }

  /**
   * Returns the memory tools of a conversation, for a model of any provider.
   * @param {import('./tools.js').ToolOptions} [options]
   */
  memoryTools(options) {
    return listTools(this, options);
  }

  /**
   * Returns a conversation whose messages are stored in memory before they leave its window, and when it ends.
   * @param {string} id Name of the conversation. No other one has it.
   * @param {import('./session.js').SessionOptions} [options]
   */
  session(id, options) {
    return new Session(this, id, options);
  }

  /** Closes the connection. A program may also end without it. */
  close() {
    this.#connection.close();
  }
}
