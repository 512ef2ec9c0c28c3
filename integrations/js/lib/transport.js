// Calls to the service: HTTP with JSON, over a unix socket or TCP.
import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import {isIP} from 'node:net';
import {homedir, tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {answeredError, connectionError, KiokuError} from './errors.js';

/** Maximum size in bytes of a request. */
const maxRequestBytes = 4 << 20;

/** Longest path of a unix socket. */
const maxSocketPath = 107;

/** Calls that change something each time they are made. All others are made once more if the connection ends before there is an answer. */
const once = new Set(['POST /v1/notes:update', 'POST /v1/notes:undo', 'POST /v1/tools:call']);

/** Calls that wait for a language model or for all files, which may take minutes: they have no limit but the caller's. */
const slow = new Set(['POST /v1/flush', 'POST /v1/compact', 'POST /v1/sessions:end', 'POST /v1/sync', 'POST /v1/rebuild']);

/** Members whose values are of others, and are left as they are. */
const opaque = new Set(['input', 'input_schema', 'inputSchema']);

/** Returns the target of the options and the environment: `unix:/path` or `host:port`. */
export function findTarget(options = {}, env = process.env) {
  if (options.target || env.KIOKU_CLIENT_TARGET) return options.target || env.KIOKU_CLIENT_TARGET;
  if (env.KIOKU_SOCKET) return `unix:${env.KIOKU_SOCKET}`;
  const state = resolve(env.KIOKU_STATE || join(env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local/state'), 'kioku'));
  const socket = join(state, 'kioku.sock');
  if (Buffer.byteLength(socket) <= maxSocketPath) return `unix:${socket}`;
  const short = createHash('sha256').update(state).digest('hex').slice(0, 16); // as kioku serve shortens it
  return `unix:${join(tmpdir(), `kioku-${process.geteuid?.()}`, `${short}.sock`)}`;
}

/** Makes calls to a service. It connects with the first call, and again when the service was restarted. */
export class Transport {
  #agent;
  #request;
  #to;
  #token;
  #defaultAgent;
  #timeoutMs;

  constructor(options, env = process.env) {
    /** Where the service is. */
    this.target = findTarget(options, env);
    const tls = Object.fromEntries(['ca', 'cert', 'key'].map((name) => [name, pem(options[name] || env[`KIOKU_CLIENT_${name.toUpperCase()}`], name)]));
    const {secure, ...to} = parseTarget(this.target, Boolean(tls.ca || tls.cert));
    this.#to = to;
    this.#request = secure ? https.request : http.request;
    this.#agent = secure ? new https.Agent({keepAlive: true, ...tls}) : new http.Agent({keepAlive: true});
    this.#token = secret(options.token || env.KIOKU_CLIENT_TOKEN, env);
    this.#defaultAgent = options.agent ?? env.KIOKU_AGENT;
    this.#timeoutMs = options.timeoutMs ?? 30_000;
  }

  /**
   * Makes a call and returns its answer; of a stream of answers the last one. Names in camelCase are those of the API in snake_case. A call
   * that names no agent is for the one of the connection.
   * @param route Such as "POST /v1/notes"; fields of a GET are its query.
   */
  async call(route, fields = {}, {timeoutMs = slow.has(route) ? undefined : this.#timeoutMs} = {}) {
    const [method, path] = route.split(' ');
    const named = rename({agent: this.#defaultAgent || undefined, ...fields}, snake);
    const query = method === 'GET' ? queryOf(named) : '';
    const body = method === 'GET' ? undefined : Buffer.from(JSON.stringify(named));
    if (body?.length > maxRequestBytes) {
      throw new KiokuError('the request has more than 4 MiB, which the service does not take: shorten its texts, or send messages in parts', {code: 'INVALID_ARGUMENT'});
    }
    const signal = timeoutMs === undefined ? undefined : AbortSignal.timeout(Math.ceil(timeoutMs));
    const {status, text} = await this.#sent({method, path: path + query, signal}, body, !once.has(route));
    const answer = lastValue(text);
    if (status !== 200 || answer?.error) throw answeredError(rename(answer?.error, camel), status, this.target);
    return rename(answer, camel);
  }

  /** Closes the connections. */
  close() {
    this.#agent.destroy();
  }

  /** Sends a request, and once more if that may be done and the connection ends before there is an answer. */
  async #sent(request, body, again) {
    const headers = {...this.#token && {authorization: `Bearer ${this.#token}`}, ...body && {'content-type': 'application/json', 'content-length': body.length}};
    for (;;) {
      try {
        return await exchange(this.#request, {...this.#to, agent: this.#agent, headers, ...request}, body);
      } catch (err) {
        const cause = request.signal?.aborted ? request.signal.reason : err;
        if (!again || !['ECONNRESET', 'EPIPE'].includes(cause.code)) throw connectionError(cause, this.target);
        again = false;
      }
    }
  }
}

/** Sends a request and reads its response. */
function exchange(request, options, body) {
  return new Promise((resolve, reject) => {
    const req = request(options, async (res) => {
      try {
        const parts = [];
        for await (const part of res) parts.push(part);
        resolve({status: res.statusCode, text: Buffer.concat(parts).toString()});
      } catch (err) {
        reject(err);
      }
    });
    req.on('error', reject);
    req.end(body);
  });
}

/** Returns the JSON value in the last line of a text; undefined if there is none. */
function lastValue(text) {
  try {
    return JSON.parse(text.trimEnd().split('\n').at(-1));
  } catch {
    return undefined;
  }
}

/** Returns a value whose members have other names, those of members in it included. */
function rename(value, name) {
  if (Array.isArray(value)) return value.map((v) => rename(v, name));
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [name(key), opaque.has(key) ? v : rename(v, name)]));
}

const snake = (key) => (key === 'isOwner' ? key : key.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`));
const camel = (key) => key.replace(/_([a-z0-9])/g, (_, c) => c.toUpperCase());

/** Returns fields as a query. */
function queryOf(fields) {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return given.length > 0 ? `?${new URLSearchParams(given.flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)])))}` : '';
}

/** Returns what a request to a target has as options, and whether it is encrypted. */
function parseTarget(target, hasTLS) {
  if (target.startsWith('unix:')) return {socketPath: target.slice('unix:'.length).replace(/^\/\//, ''), secure: false};
  const [, host, port] = /^(\[[^\]]+\]|[^:/[\]]+):(\d+)$/.exec(target) ?? [];
  if (!host || !port) throw new TypeError(`target ${JSON.stringify(target)}: write unix:/path/to/kioku.sock or host:port`);
  return {hostname: host.replace(/^\[|\]$/g, ''), port, secure: hasTLS || !isLoopback(host)};
}

function isLoopback(host) {
  return host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Returns the PEM file of an option. */
function pem(file, name) {
  try {
    return file ? readFileSync(file) : undefined;
  } catch (cause) {
    throw new TypeError(`no PEM file can be read for the option ${name} (or KIOKU_CLIENT_${name.toUpperCase()}): ${cause.message}`, {cause});
  }
}

/** Returns a token, or the one in the variable or the file that a text names. */
function secret(text, env) {
  if (text?.startsWith('env:')) return env[text.slice('env:'.length)];
  return text?.startsWith('file:') ? readFileSync(text.slice('file:'.length), 'utf8').trim() : text;
}
