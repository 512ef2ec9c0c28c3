export type Message = import('./messages.js').Message;
export type Dialect<M> = {
    /**
     * The messages that a message stands for; none for a system prompt.
     */
    read: (message: M) => Message[];
    /**
     * The message that stands for a summary.
     */
    summary: (summary: Message) => M;
    /**
     * A copy of a message in which the result of a call has another text.
     */
    withResult: (message: M, toolCallId: string, text: string) => M;
    /**
     * The message of a user with a further block of text: a copy of it, or two.
     */
    withBlock: (message: M, block: string) => M[];
};
/** @typedef {import('./messages.js').Message} Message */
/**
 * How the messages of another library are read and written.
 * @template M
 * @typedef {object} Dialect
 * @property {(message: M) => Message[]} read The messages that a message stands for; none for a system prompt.
 * @property {(summary: Message) => M} summary The message that stands for a summary.
 * @property {(message: M, toolCallId: string, text: string) => M} withResult A copy of a message in which the result of a call has another text.
 * @property {(message: M, block: string) => M[]} withBlock The message of a user with a further block of text: a copy of it, or two.
 */
/**
 * Prepares a turn of another library's messages, as Session.before does. It returns the system prompt, and the messages to send: the summary
 * in place of old ones, old results of tools shortened, and what changes from turn to turn in the newest message of the user. The messages of the caller stay as they are.
 * @template M
 * @param {import('./session.js').Session} session
 * @param {M[]} messages
 * @param {Dialect<M>} dialect
 */
export declare function prepareTurn<M>(session: import('./session.js').Session, messages: M[], dialect: Dialect<M>): Promise<{
    system: string;
    turnBlock: string;
    messages: M[];
}>;
/**
 * Returns the messages that those of another library stand for, each with the index of the one that it is from. The text and the calls of an
 * assistant that are messages of their own there are one, so that the results follow the message with all calls.
 * @template M
 * @param {M[]} messages
 * @param {(message: M) => Message[]} read
 */
export declare function readMessages<M>(messages: M[], read: (message: M) => Message[]): {
    part: Message;
    index: number;
}[];
/**
 * Returns what memory has about a message, for the prompt; empty if there is nothing, or if memory does not answer, which onError is told.
 * @param {import('./client.js').Kioku} kioku
 * @param {string} message
 * @param {{channel?: string, group?: boolean, session?: string, onError?: (err: Error) => void}} [options]
 */
export declare function recallBlock(kioku: import('./client.js').Kioku, message: string, { onError, ...options }?: {
    channel?: string;
    group?: boolean;
    session?: string;
    onError?: (err: Error) => void;
}): Promise<string>;
/** @param {Error} err */
export declare function warn(err: Error): void;
