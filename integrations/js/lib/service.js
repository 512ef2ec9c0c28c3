import {createClient} from '@connectrpc/connect';
import {KiokuError, kiokuError} from './errors.js';

/**
 * The calls of a service, as functions of a request.
 * @template {import('@bufbuild/protobuf').DescService} S
 * @typedef {import('@connectrpc/connect').Client<S>} Service
 */

/** Calls that wait for a language model, which may take minutes: they have no limit but the caller's. */
const slow = new Set(['Flush', 'Compact', 'EndSession', 'Sync', 'Rebuild', 'WatchEvents']);

/**
 * Returns the calls of a service. A request without an agent is of the agent of the connection, and a failed call throws a KiokuError.
 * @template {import('@bufbuild/protobuf').DescService} S
 * @param {S} desc
 * @param {{transport: import('@connectrpc/connect').Transport, target: string, agent?: string, timeoutMs: number}} connection
 * @returns {Service<S>}
 */
export function bindService(desc, {transport, target, agent, timeoutMs}) {
  const client = /** @type {Record<string, Function>} */ (createClient(desc, transport));
  /** @type {Record<string, Function>} */
  const calls = {};
  for (const method of desc.methods) {
    const call = client[method.localName];
    const named = agent && method.input.field.agent;
    const limit = slow.has(method.name) ? undefined : timeoutMs;
    const begin = (/** @type {object} */ request = {}, /** @type {object} */ options = {}) => {
      checkFields(method, request);
      return call(named ? {agent, ...request} : request, {timeoutMs: limit, ...options});
    };
    calls[method.localName] = method.methodKind === 'unary' ? unary(begin, target) : streaming(begin, target);
  }
  return /** @type {Service<S>} */ (calls);
}

/**
 * Throws an error for a field that a request does not have: a misspelled option would be ignored.
 * @param {import('@bufbuild/protobuf').DescMethod} method
 * @param {object} request
 */
function checkFields(method, request) {
  const names = method.input.members.map((m) => m.localName);
  const unknown = Object.entries(request).find(([name, value]) => value !== undefined && !name.startsWith('$') && !names.includes(name));
  if (!unknown) return;
  throw new KiokuError(`${method.localName} has no option ${unknown[0]}; it has ${names.join(', ')}`,
    {code: 'INVALID_ARGUMENT', fields: [{field: unknown[0], problem: 'is not known'}]});
}

/** @param {Function} begin @param {string} target */
function unary(begin, target) {
  return async (/** @type {unknown[]} */ ...args) => {
    try {
      return await begin(...args);
    } catch (err) {
      throw err instanceof KiokuError ? err : kiokuError(err, target);
    }
  };
}

/** @param {Function} begin @param {string} target */
function streaming(begin, target) {
  return async function* (/** @type {unknown[]} */ ...args) {
    try {
      yield* begin(...args);
    } catch (err) {
      throw err instanceof KiokuError ? err : kiokuError(err, target);
    }
  };
}
