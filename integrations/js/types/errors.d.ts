/** What is wrong with a call, and what to do about it. */
export declare class KiokuError extends Error {
    /** Code of gRPC, such as `NOT_FOUND`. */
    code: string;
    /** Stable name of the error, such as `CONFLICT` or `READ_ONLY`; empty for an error without one. */
    reason: string;
    /** Fields of the request that are wrong. */
    fields: {
        field: string;
        problem: string;
    }[];
    /** Seconds until the next attempt can succeed; 0 if that is not known. */
    retryAfterSeconds: number;
    /** Ids of messages that the service does not have (any more); a Session sends them again. */
    unknownMessages: string[];
    /**
     * @param {string} message
     * @param {Omit<KiokuErrorFields, 'message'>} fields
     */
    constructor(message: string, { code, reason, fields, retryAfterSeconds, unknownMessages, cause }: Omit<KiokuErrorFields, 'message'>);
}
export type KiokuErrorFields = {
    message: string;
    code: string;
    reason?: string;
    fields?: {
        field: string;
        problem: string;
    }[];
    retryAfterSeconds?: number;
    unknownMessages?: string[];
    cause?: unknown;
};
/**
 * @typedef {object} KiokuErrorFields
 * @property {string} message
 * @property {string} code
 * @property {string} [reason]
 * @property {{field: string, problem: string}[]} [fields]
 * @property {number} [retryAfterSeconds]
 * @property {string[]} [unknownMessages]
 * @property {unknown} [cause]
 */
/**
 * Returns the error of a call to the service at target.
 * @param {unknown} cause
 * @param {string} target
 * @returns {KiokuError}
 */
export declare function kiokuError(cause: unknown, target: string): KiokuError;
