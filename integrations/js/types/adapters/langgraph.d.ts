export { KiokuStore } from './langgraph-store.js';
export type Message = import('../messages.js').Message;
/** @typedef {import('../messages.js').Message} Message */
/**
 * Returns the memory tools for an agent.
 * @param {import('../client.js').Kioku} kioku
 * @param {import('../tools.js').ToolOptions} [options]
 * @returns {Promise<import('@langchain/core/tools').StructuredToolInterface[]>}
 */
export declare function memoryTools(kioku: import('../client.js').Kioku, options?: import('../tools.js').ToolOptions): Promise<import('@langchain/core/tools').StructuredToolInterface[]>;
/**
 * Returns a preModelHook: it adds the system prompt of the workspace and what is recalled, stores memories, and sends a summary in place of old
 * messages. The state of the graph stays as it is. The session of a thread has the name of its thread_id, which each call has to give.
 * @param {import('../client.js').Kioku} kioku
 * @param {import('../session.js').SessionOptions} [options]
 */
export declare function preModelHook(kioku: import('../client.js').Kioku, options?: import('../session.js').SessionOptions): (/** @type {any} */ { messages }: any, /** @type {any} */ config: any) => Promise<{
    llmInputMessages: any[];
}>;
/**
 * Returns the ask of a session for a chat model of LangChain.
 * @param {import('@langchain/core/language_models/chat_models').BaseChatModel} model
 * @returns {NonNullable<import('../session.js').SessionOptions['ask']>}
 */
export declare function askWith(model: import('@langchain/core/language_models/chat_models').BaseChatModel): NonNullable<import('../session.js').SessionOptions['ask']>;
/**
 * Returns the messages of a thread as a session takes them, for Session.flush and Session.end.
 * @param {import('@langchain/core/messages').BaseMessage[]} messages
 * @returns {Message[]}
 */
export declare function toMessages(messages: import('@langchain/core/messages').BaseMessage[]): Message[];
