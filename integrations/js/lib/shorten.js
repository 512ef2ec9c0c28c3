/** Maximum size in bytes of what memory is asked with: the service reads 32 KiB at either end. */
const maxQuestion = 64 << 10;

/** Maximum size in bytes of a text or of the input of a tool in a message that is sent; a request may have four times as much. */
const maxText = 1 << 20;

/**
 * Returns a text with at most max bytes: of a longer one the beginning and the end, where people say what they want.
 * @param {string} text
 * @param {number} max
 */
function bothEnds(text, max) {
  if (text.length * 3 <= max || Buffer.byteLength(text) <= max) return text;
  const bytes = Buffer.from(text);
  const note = `\n[... ${bytes.length - max} bytes left out ...]\n`;
  const half = (max - note.length) / 2;
  return bytes.subarray(0, half).toString().replace(/\uFFFD+$/, '') + note + bytes.subarray(bytes.length - half).toString().replace(/^\uFFFD+/, '');
}

/** Returns a message of a user as memory is asked with it. @param {string} text */
export const shortQuestion = (text) => bothEnds(text, maxQuestion);

/**
 * Returns a message as it is sent to the service: a pasted log or a file that a tool read does not make the request too long.
 * @template {import('./messages.js').Message} M
 * @param {M} message
 * @returns {M}
 */
export function shortMessage(message) {
  const {text, toolCalls} = message;
  return {...message, ...text && {text: bothEnds(text, maxText)}, ...toolCalls && {toolCalls: toolCalls.map(shortCall)}};
}

/** @template {{input?: string}} C @param {C} call @returns {C} */
function shortCall(call) {
  const input = bothEnds(call.input ?? '', maxText);
  return input === (call.input ?? '') ? call : {...call, input: JSON.stringify({shortened: bothEnds(input, maxText / 4)})};
}

/** Returns about how many bytes a message has in a request, at least as many as it has. @param {import('./messages.js').Message} m */
export function sizeOf(m) {
  const calls = (m.toolCalls ?? []).map((c) => [c.id, c.name, c.input]);
  const texts = [m.id, m.throughId, m.role, m.text, m.toolCallId, m.toolName, m.channel, m.author?.id, m.author?.name, ...calls.flat()];
  return texts.reduce((sum, text) => sum + 8 + Buffer.byteLength(text ?? ''), 64);
}
