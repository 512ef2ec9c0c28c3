import { recallBlock } from '../turn.js';
export type Kioku = import('../client.js').Kioku;
export type Message = import('../messages.js').Message;
/** @typedef {import('../client.js').Kioku} Kioku */
/** @typedef {import('../messages.js').Message} Message */
/**
 * Returns the memory tools for generateText, streamText and agents.
 * @param {Kioku} kioku
 * @param {import('../tools.js').ToolOptions} [options]
 * @returns {Promise<import('ai').ToolSet>}
 */
export declare function memoryTools(kioku: Kioku, options?: import('../tools.js').ToolOptions): Promise<import('ai').ToolSet>;
/**
 * Returns middleware for wrapLanguageModel that adds to the newest message of the user what memory has about it.
 * @param {Kioku} kioku
 * @param {Parameters<typeof recallBlock>[2]} [options]
 * @returns {import('ai').LanguageModelMiddleware}
 */
export declare function recallMiddleware(kioku: Kioku, options?: Parameters<typeof recallBlock>[2]): import('ai').LanguageModelMiddleware;
/**
 * Returns a prepareStep that makes the conversation one that loses nothing: it adds the system prompt of the workspace and what is recalled,
 * stores memories, and sends a summary in place of old messages. What you store of the conversation stays as it is.
 * @param {import('../session.js').Session} session
 * @returns {(step: any) => Promise<any>}
 */
export declare function remember(session: import('../session.js').Session): (step: any) => Promise<any>;
/**
 * Returns the messages of a conversation as a session takes them, for Session.flush and Session.end.
 * @param {import('ai').ModelMessage[]} messages
 * @returns {Message[]}
 */
export declare function toMessages(messages: import('ai').ModelMessage[]): Message[];
/**
 * Returns the ask of a session for a model of the AI SDK.
 * @param {import('ai').LanguageModel} model
 * @returns {NonNullable<import('../session.js').SessionOptions['ask']>}
 */
export declare function askWith(model: import('ai').LanguageModel): NonNullable<import('../session.js').SessionOptions['ask']>;
