import {newestQuestion} from './messages.js';
import {shortQuestion} from './shorten.js';

/**
 * Prepares a turn of another library's messages, as Session.before does. It returns the system prompt, and the messages to send: the summary
 * in place of old ones, old results of tools shortened, and what changes from turn to turn in the newest message of the user. The messages of the caller stay as they are.
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
 */
export function readMessages(messages, read) {
  const parts = [];
  for (const {part, index} of messages.flatMap((message, index) => read(message).map((part) => ({part, index})))) {
    const last = parts.at(-1);
    if (part.role === 'assistant' && part.toolCalls?.length && last?.part.role === 'assistant') {
      last.part = {...last.part, toolCalls: [...last.part.toolCalls ?? [], ...part.toolCalls]};
    } else parts.push({part, index});
  }
  return parts;
}

/** Returns what memory has about a message, for the prompt; empty if there is nothing, or if memory does not answer, which onError is told. */
export async function recallBlock(kioku, message, {onError = warn, ...options} = {}) {
  if (!message.trim()) return '';
  try {
    return (await kioku.recall(shortQuestion(message), options)).block;
  } catch (err) {
    onError(err);
    return '';
  }
}

export function warn(err) {
  console.warn(`kioku: ${err.message}`);
}
