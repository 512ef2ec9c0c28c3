import {newestQuestion} from './messages.js';
import {shortQuestion} from './shorten.js';

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
export async function prepareTurn(session, messages, dialect) {
  const parts = readMessages(messages, dialect.read);
  const {system, turnBlock, summary, keep, shortened} = await session.before(parts.map((p) => p.part));
  const from = summary ? parts[keep].index : 0;
  const sent = messages.slice(from);
  for (const [i, text] of shortened) {
    const {part, index} = parts[i];
    if (index >= from) sent[index - from] = dialect.withResult(sent[index - from], part.toolCallId ?? '', text);
  }
  const newest = parts[newestQuestion(parts.map((p) => p.part)).index]?.index ?? -1;
  if (turnBlock && newest >= from) sent.splice(newest - from, 1, ...dialect.withBlock(sent[newest - from], turnBlock));
  return {system, turnBlock, messages: summary ? [dialect.summary(summary), ...sent] : sent};
}

/**
 * Returns the messages that those of another library stand for, each with the index of the one that it is from. The text and the calls of an
 * assistant that are messages of their own there are one, so that the results follow the message with all calls.
 * @template M
 * @param {M[]} messages
 * @param {(message: M) => Message[]} read
 */
export function readMessages(messages, read) {
  /** @type {{part: Message, index: number}[]} */
  const parts = [];
  for (const {part, index} of messages.flatMap((message, index) => read(message).map((part) => ({part, index})))) {
    const last = parts.at(-1);
    if (part.role === 'assistant' && part.toolCalls?.length && last?.part.role === 'assistant') {
      last.part = /** @type {Message} */ ({...last.part, toolCalls: [...last.part.toolCalls ?? [], ...part.toolCalls]});
    } else parts.push({part, index});
  }
  return parts;
}

/**
 * Returns what memory has about a message, for the prompt; empty if there is nothing, or if memory does not answer, which onError is told.
 * @param {import('./client.js').Kioku} kioku
 * @param {string} message
 * @param {{channel?: string, group?: boolean, session?: string, onError?: (err: Error) => void}} [options]
 */
export async function recallBlock(kioku, message, {onError = warn, ...options} = {}) {
  if (!message.trim()) return '';
  try {
    return (await kioku.recall(shortQuestion(message), options)).block;
  } catch (err) {
    onError(/** @type {Error} */ (err));
    return '';
  }
}

/** @param {Error} err */
export function warn(err) {
  console.warn(`kioku: ${err.message}`);
}
