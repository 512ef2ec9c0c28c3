import {Code, ConnectError} from '@connectrpc/connect';
import {BadRequestSchema, ErrorInfoSchema, RetryInfoSchema} from '../gen/google/rpc/error_details_pb.js';
import {UnknownMessagesSchema} from '../gen/kioku/v1/agent_pb.js';

/** Names of the codes of gRPC, by number. */
const codes = Object.fromEntries(Object.entries(Code).filter(([, n]) => typeof n === 'number')
  .map(([name, n]) => [n, name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()]));

/** What is wrong with a call, and what to do about it. */
export class KiokuError extends Error {
  /**
   * @param {string} message
   * @param {Omit<KiokuErrorFields, 'message'>} fields
   */
  constructor(message, {code, reason = '', fields = [], retryAfterSeconds = 0, unknownMessages = [], cause}) {
    super(message, {cause});
    this.name = 'KiokuError';
    /** Code of gRPC, such as `NOT_FOUND`. */
    this.code = code;
    /** Stable name of the error, such as `CONFLICT` or `READ_ONLY`; empty for an error without one. */
    this.reason = reason;
    /** Fields of the request that are wrong. */
    this.fields = fields;
    /** Seconds until the next attempt can succeed; 0 if that is not known. */
    this.retryAfterSeconds = retryAfterSeconds;
    /** Ids of messages that the service does not have (any more); a Session sends them again. */
    this.unknownMessages = unknownMessages;
  }
}

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
export function kiokuError(cause, target) {
  const error = ConnectError.from(cause);
  if (isUnreachable(error)) {
    return new KiokuError(`no Kioku service answers at ${target}; start one: kioku serve --workspace DIR`, {code: 'UNAVAILABLE', cause});
  }
  const why = tlsProblem(error) || connectionEnd(error);
  if (why) return new KiokuError(`Kioku at ${target}: ${why}`, {code: 'UNAVAILABLE', cause});
  if (error.code === Code.ResourceExhausted && /writeMaxBytes/.test(error.rawMessage)) {
    return new KiokuError('the request has more than 4 MiB, which the service does not take: shorten its texts, or send messages in parts',
      {code: 'INVALID_ARGUMENT', cause});
  }
  const [bad] = error.findDetails(BadRequestSchema);
  const [retry] = error.findDetails(RetryInfoSchema);
  return new KiokuError(error.rawMessage, {
    code: codes[error.code], cause,
    reason: error.findDetails(ErrorInfoSchema)[0]?.reason,
    fields: bad?.fieldViolations.map((v) => ({field: v.field, problem: v.description})),
    unknownMessages: error.findDetails(UnknownMessagesSchema)[0]?.ids,
    retryAfterSeconds: Number(retry?.retryDelay?.seconds ?? 0),
  });
}

/** @param {ConnectError} error */
function isUnreachable(error) {
  const cause = /** @type {NodeJS.ErrnoException | undefined} */ (error.cause);
  return ['ENOENT', 'ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH'].includes(cause?.code ?? '');
}

/** Says what is wrong with the certificates of a connection; empty if nothing is. @param {ConnectError} error */
function tlsProblem(error) {
  const {code = '', message = ''} = /** @type {NodeJS.ErrnoException} */ (error.cause ?? {});
  if (!/CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|^EPROTO$|ERR_SSL/.test(code)) return '';
  return `${message}; set KIOKU_CLIENT_CA (or ca) to the authority of its certificate, or use the name that the certificate has`;
}

/** Says that a connection ended in the middle of a call; empty if it did not. @param {ConnectError} error */
function connectionEnd(error) {
  if (!/^http\/2 |ECONNRESET|EPIPE|ERR_HTTP2|NGHTTP2/.test(error.rawMessage)) return '';
  return 'it ended the connection; if it was stopped, start one: kioku serve --workspace DIR; if it speaks TLS, set KIOKU_CLIENT_CA (or ca)';
}
