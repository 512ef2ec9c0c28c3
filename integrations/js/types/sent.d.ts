export type Identified = import('./messages.js').Message & {
    id: string;
};
/** @typedef {import('./messages.js').Message & {id: string}} Identified */
/**
 * Remembers what the service was sent in a session, so that each message is sent whole once: afterwards its id stands for it, and two ids
 * for all messages between them.
 */
export declare class SentMessages {
    #private;
    /**
     * Makes a call with messages. If the service does not have one of them any more, such as after a restart, the call is made again.
     * @template R
     * @param {Identified[]} messages
     * @param {(messages: import('./messages.js').Message[]) => Promise<R>} call
     * @returns {Promise<R>}
     */
    send<R>(messages: Identified[], call: (messages: import('./messages.js').Message[]) => Promise<R>): Promise<R>;
}
