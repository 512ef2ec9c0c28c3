// Reads transcripts of Claude Code as Kioku's own hooks and sources do (agent/transcripts in Go): the test of each reads the same transcript.
import {readFileSync} from 'node:fs';

/** Beginnings of texts that Claude Code writes into a conversation under the name of the user. */
const inserted = ['<command-name>', '<command-message>', '<command-args>', '<local-command-', '<bash-input>', '<bash-stdout>', '<bash-stderr>',
  '<system-reminder>', '<task-notification>', '<user-memory-input>', '[Request interrupted by user'];

/** Longest line that is read, as those with images are longer. */
const maxLine = 1 << 20;

/**
 * Returns what the user and the model said in a transcript, without tools and what the program put in. A line that is not understood, such as
 * a last one that is being written, is left out.
 */
export function readTranscript(jsonl) {
  const said = jsonl.split('\n').flatMap((line) => {
    try {
      return line.length > maxLine ? [] : readLine(JSON.parse(line));
    } catch {
      return [];
    }
  });
  return said.filter((m, i) => m.role !== said[i - 1]?.role || m.text !== said[i - 1]?.text);
}

/** Returns what was said in a transcript file; nothing if there is no such file yet. */
export function readTranscriptFile(path) {
  try {
    return readTranscript(readFileSync(path, 'utf8'));
  } catch (err) {
    if (err.code === 'ENOENT') return [];
    throw err;
  }
}

function readLine(line) {
  const {type, uuid, message, isMeta, isSidechain, isCompactSummary, isApiErrorMessage} = line ?? {};
  if (type !== 'user' && type !== 'assistant' || !uuid || message?.role !== type) return [];
  const text = textOf(message.content);
  const added = isMeta || isSidechain || isCompactSummary || isApiErrorMessage || isInserted(text);
  return added || !text.trim() ? [] : [{id: uuid, role: type, text}];
}

function textOf(content) {
  if (typeof content === 'string') return content;
  const texts = Array.isArray(content) ? content.flatMap((part) => (part?.type === 'text' ? [part.text] : [])) : [];
  return texts.filter((text) => typeof text === 'string' && text && !isInserted(text)).join('\n\n');
}

function isInserted(text) {
  return inserted.some((begin) => text.trimStart().startsWith(begin));
}
