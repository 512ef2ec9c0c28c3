export { readTranscript } from './claude-transcript.js';
export type Kioku = import('../client.js').Kioku;
export type Message = import('../messages.js').Message;
/** @typedef {import('../client.js').Kioku} Kioku */
/** @typedef {import('../messages.js').Message} Message */
/**
 * Returns options for query(), an MCP server in this process with the memory tools and hooks that recall and store, and end, to be called after
 * the last message: hooks of SessionEnd that are functions are called when a conversation is cleared, and not when the program ends it. The
 * language model of the service makes the notes; without one, what was said is kept on disk until there is one.
 * @param {Kioku} kioku
 * @param {import('../tools.js').ToolOptions & {onError?: (err: Error) => void}} [options]
 * @returns {{options: Pick<import('@anthropic-ai/claude-agent-sdk').Options, 'mcpServers' | 'allowedTools' | 'hooks'>, end: () => Promise<void>}}
 */
export declare function withMemory(kioku: Kioku, options?: import('../tools.js').ToolOptions & {
    onError?: (err: Error) => void;
}): {
    options: Pick<import('@anthropic-ai/claude-agent-sdk').Options, 'mcpServers' | 'allowedTools' | 'hooks'>;
    end: () => Promise<void>;
};
