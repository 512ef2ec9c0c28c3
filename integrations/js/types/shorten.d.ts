/** Returns a message of a user as memory is asked with it. @param {string} text */
export declare const shortQuestion: (text: string) => string;
/**
 * Returns a message as it is sent to the service: a pasted log or a file that a tool read does not make the request too long.
 * @template {import('./messages.js').Message} M
 * @param {M} message
 * @returns {M}
 */
export declare function shortMessage<M extends import('./messages.js').Message>(message: M): M;
/** Returns about how many bytes a message has in a request, at least as many as it has. @param {import('./messages.js').Message} m */
export declare function sizeOf(m: import('./messages.js').Message): number;
