/** Maximum size in bytes of what memory is asked with: the service reads 32 KiB at either end. */
const maxQuestion = 64 << 10;

/** Maximum size in bytes of a text or of the input of a tool in a message that is sent; a request may have four times as much. */
const maxText = 1 << 20;

/** Returns a text with at most max bytes: of a longer one the beginning and the end, where people say what they want. */
function bothEnds(text, max) {
  if (text.length * 3 <= max || Buffer.byteLength(text) <= max) return text;
  const bytes = Buffer.from(text);
  const note = `\n[... ${bytes.length - max} bytes left out ...]\n`;
  const half = (max - note.length) / 2;
  return bytes.subarray(0, half).toString().replace(/\uFFFD+$/, '') + note + bytes.subarray(bytes.length - half).toString().replace(/^\uFFFD+/, '');
}

/** Returns a message of a user as memory is asked with it. */
export const shortQuestion = (text) => bothEnds(text, maxQuestion);

/** Returns a message as it is sent to the service: a pasted log or a file that a tool read does not make the request too long. */
export function shortMessage(message) {
  const {text, toolCalls} = message;
  return {...message, ...text && {text: shortText(text)}, ...toolCalls && {toolCalls: toolCalls.map(shortCall)}};
}

/** Returns a text that is not too long as JSON either, which writes some characters as six bytes. */
function shortText(text) {
  const short = bothEnds(text, maxText);
  return bytesOf(short) > 2 * maxText ? bothEnds(text, maxText / 6) : short;
}

function shortCall(call) {
  return bytesOf(call.input) <= maxText ? call : {...call, input: {shortened: bothEnds(JSON.stringify(call.input), maxText / 4)}};
}

/** Returns about how many bytes a message has in a request, at least as many as it has. */
export const sizeOf = (message) => 100 + bytesOf(message);

/** Returns how many bytes a value has as JSON. */
const bytesOf = (value) => Buffer.byteLength(JSON.stringify(value) ?? '');
