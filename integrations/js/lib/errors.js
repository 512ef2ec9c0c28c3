/** What is wrong with a call, and what to do about it. index.d.ts says what its fields are. */
export class KiokuError extends Error {
  constructor(message, {code, reason = '', fields = [], retryAfterSeconds = 0, cause}) {
    super(message, {cause});
    this.name = 'KiokuError';
    this.code = code;
    this.reason = reason;
    this.fields = fields;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Returns the error of a call to the service at target that got no answer. */
export function connectionError(cause, target) {
  return new KiokuError(problemOf(cause, target), {code: cause.name === 'TimeoutError' ? 'DEADLINE_EXCEEDED' : 'UNAVAILABLE', cause});
}

function problemOf({name, code = '', message}, target) {
  if (name === 'TimeoutError') return `Kioku at ${target} did not answer in time; give the call more with timeoutMs, or see kioku status`;
  if (['ENOENT', 'ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH'].includes(code)) {
    return `no Kioku service answers at ${target}; start one: kioku serve --workspace DIR`;
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|^EPROTO$|ERR_SSL|ERR_TLS/.test(code)) {
    return `Kioku at ${target}: ${message}; set KIOKU_CLIENT_CA (or ca) to the authority of its certificate, or use the name that the certificate has`;
  }
  return `Kioku at ${target}: it ended the connection; if it was stopped, start one: kioku serve --workspace DIR; if it speaks TLS, set KIOKU_CLIENT_CA (or ca)`;
}

/** Returns the error that the service at target answered. */
export function answeredError(said, status, target) {
  if (!said?.code) return new KiokuError(`Kioku at ${target}: it answered ${status}, and no error of Kioku: is another service at this address?`, {code: 'UNAVAILABLE'});
  const {code, message, reason, retryAfterSeconds, fields = []} = said;
  return new KiokuError([message, hintOf(said)].filter(Boolean).join('; '), {code, reason, fields, retryAfterSeconds});
}

/** Returns what to do about an error. Some hints of the service are for those who write their requests themselves. */
function hintOf({code, hint = ''}) {
  if (code === 'UNAUTHENTICATED') return 'set KIOKU_CLIENT_TOKEN (or token) to a token of the service';
  return /openapi\.json|the header/.test(hint) ? '' : hint;
}
