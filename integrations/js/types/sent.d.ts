export type Identified = import('./messages.js').Message & {
    id: string;
};
/**
 * Remembers what the service was sent in a session, so that each message is sent whole once: afterwards its id stands for it, and two ids
 * for all messages between them. Messages that are too long for one request are sent in parts.
 */
export declare class SentMessages {
    #private;
    /**
     * @param {(messages: import('./messages.js').Message[]) => Promise<unknown>} tell Makes a call that does nothing but tell the service of messages.
     * @param {(err: Error) => void} report Gets told once that a session is too long.
     */
    constructor(tell: (messages: import('./messages.js').Message[]) => Promise<unknown>, report: (err: Error) => void);
    /**
     * Makes a call with messages. If the service does not have one of them any more, such as after a restart, the call is made again.
     * @template R
     * @param {Identified[]} messages
     * @param {(messages: import('./messages.js').Message[]) => Promise<R>} call
     * @returns {Promise<R>}
     */
    send<R>(messages: Identified[], call: (messages: import('./messages.js').Message[]) => Promise<R>): Promise<R>;
}
