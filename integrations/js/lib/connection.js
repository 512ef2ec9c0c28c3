import {readFileSync} from 'node:fs';
import {createHash} from 'node:crypto';
import {connect as connectSocket, isIP} from 'node:net';
import {homedir, tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {createGrpcTransport, Http2SessionManager} from '@connectrpc/connect-node';

/**
 * Where the service is, and who asks. What is not set comes from the environment that the command kioku reads too.
 * @typedef {object} ConnectOptions
 * @property {string} [target] `unix:/path/to/kioku.sock` or `host:port`; otherwise KIOKU_CLIENT_TARGET, and then the socket of
 *   `kioku serve` (KIOKU_SOCKET, or the one in the state folder).
 * @property {string} [token] Token of the service; otherwise KIOKU_CLIENT_TOKEN. `env:NAME` and `file:PATH` name where it is.
 * @property {string} [ca] PEM file of the authorities of the service; otherwise KIOKU_CLIENT_CA, and then those of Node.
 * @property {string} [cert] PEM file of the certificate to show; otherwise KIOKU_CLIENT_CERT.
 * @property {string} [key] PEM file of the key of that certificate; otherwise KIOKU_CLIENT_KEY.
 * @property {string} [agent] Agent whose memory it is; otherwise KIOKU_AGENT, and then the only one that the token may reach.
 * @property {number} [timeoutMs] Limit of a call that waits for no language model; 30,000 unless it is set.
 */

/** Maximum size in bytes of a request. A longer one is not sent: the service would end the connection, and with it the calls beside it. */
export const maxRequestBytes = 4 << 20;

/** Longest path of a unix socket. */
const maxSocketPath = 107;

/**
 * Returns the target of the options and the environment: `unix:/path` or `host:port`.
 * @param {ConnectOptions} [options]
 * @param {Record<string, string | undefined>} [env]
 * @returns {string}
 */
export function findTarget(options = {}, env = process.env) {
  if (options.target || env.KIOKU_CLIENT_TARGET) return /** @type {string} */ (options.target || env.KIOKU_CLIENT_TARGET);
  if (env.KIOKU_SOCKET) return `unix:${env.KIOKU_SOCKET}`;
  const state = resolve(env.KIOKU_STATE || join(env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local/state'), 'kioku'));
  const socket = join(state, 'kioku.sock');
  if (Buffer.byteLength(socket) <= maxSocketPath) return `unix:${socket}`;
  const short = createHash('sha256').update(state).digest('hex').slice(0, 16); // as kioku serve shortens it
  return `unix:${join(tmpdir(), `kioku-${process.geteuid?.()}`, `${short}.sock`)}`;
}

/**
 * Opens a connection, with the first call.
 * @param {ConnectOptions} options
 * @param {Record<string, string | undefined>} [env]
 */
export function openConnection(options, env = process.env) {
  const target = findTarget(options, env);
  const token = secret(options.token || env.KIOKU_CLIENT_TOKEN, env);
  const tls = {
    ca: pem(options.ca || env.KIOKU_CLIENT_CA, 'ca'), cert: pem(options.cert || env.KIOKU_CLIENT_CERT, 'cert'), key: pem(options.key || env.KIOKU_CLIENT_KEY, 'key'),
  };
  const {baseUrl, socket} = parseTarget(target, Boolean(tls.ca || tls.cert));
  const manager = new Http2SessionManager(baseUrl, undefined, socket ? {createConnection: () => connectSocket(socket)} : tls);
  /** @type {import('@connectrpc/connect').Interceptor} */
  const authorize = (next) => (request) => {
    if (token) request.header.set('authorization', `Bearer ${token}`);
    return next(request);
  };
  const transport = createGrpcTransport({baseUrl, sessionManager: manager, interceptors: [authorize], writeMaxBytes: maxRequestBytes});
  return {target, transport, close: () => manager.abort()};
}

/**
 * @param {string} target
 * @param {boolean} secure
 * @returns {{baseUrl: string, socket?: string}}
 */
function parseTarget(target, secure) {
  if (target.startsWith('unix:')) return {baseUrl: 'http://localhost', socket: target.slice('unix:'.length).replace(/^\/\//, '')};
  const [, host, port] = /^(\[[^\]]+\]|[^:/[\]]+):(\d+)$/.exec(target) ?? [];
  if (!host || !port) throw new TypeError(`target ${JSON.stringify(target)}: write unix:/path/to/kioku.sock or host:port`);
  return {baseUrl: `${isLoopback(host) && !secure ? 'http' : 'https'}://${host}:${port}`};
}

/** @param {string} host */
function isLoopback(host) {
  return host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** @param {string | undefined} file @param {string} name Option that names the file. */
function pem(file, name) {
  try {
    return file ? readFileSync(file) : undefined;
  } catch (cause) {
    throw new TypeError(`no PEM file can be read for the option ${name} (or KIOKU_CLIENT_${name.toUpperCase()}): ${/** @type {Error} */ (cause).message}`, {cause});
  }
}

/**
 * @param {string | undefined} text
 * @param {Record<string, string | undefined>} env
 */
function secret(text, env) {
  if (text?.startsWith('env:')) return env[text.slice('env:'.length)];
  return text?.startsWith('file:') ? readFileSync(text.slice('file:'.length), 'utf8').trim() : text;
}
