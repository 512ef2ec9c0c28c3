import {createHash} from 'node:crypto';
import {appendTool, parseInput} from './tools.js';

/**
 * Returns messages in which each has an id. A message without one gets an id made of its content and of the message before it, so that it
 * has the same one in the next process, and after older messages are gone.
 */
export function identify(messages) {
  const seen = new Map();
  let before = '';
  return messages.map((message) => {
    if (!message.role && !message.id || 'content' in message) {
      throw new TypeError('a message of a session has a role and a text; the adapters read the messages of other libraries (toMessages)');
    }
    const content = contentOf(message);
    const hash = createHash('sha256').update(before).update('\n').update(content).digest('hex').slice(0, 24);
    before = content;
    const whole = {...message, ...message.toolCalls && {toolCalls: message.toolCalls.map((c) => ({...c, input: inputOf(c.input)}))}};
    if (message.id) return whole;
    const count = (seen.get(hash) ?? 0) + 1;
    seen.set(hash, count);
    return {...whole, id: count > 1 ? `${hash}.${count}` : hash};
  });
}

function contentOf(m) {
  return JSON.stringify([m.role, m.text, m.toolCalls?.map((c) => [c.id, c.name, typeof c.input === 'object' ? JSON.stringify(c.input) : c.input]), m.toolCallId, m.author?.id]);
}

/** Returns the input of a call as an object, which the service expects also of a model that wrote something else. */
function inputOf(input) {
  const value = typeof input === 'string' ? parseInput(input) : input ?? {};
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {text: String(input)};
}

/** Returns the text of the newest message of the user, and its index; -1 if there is none. */
export function newestQuestion(messages) {
  const index = messages.map((m) => m.role).lastIndexOf('user');
  return {index, text: index < 0 ? '' : messages[index].text ?? ''};
}

/** Returns who writes a note now: "tool" if the model has read the result of a tool since the newest message of the user, otherwise "agent". */
export function sourceOf(messages) {
  const since = messages.slice(newestQuestion(messages).index + 1);
  return since.some((m) => m.role === 'tool' && m.toolName !== appendTool) ? 'tool' : 'agent';
}
