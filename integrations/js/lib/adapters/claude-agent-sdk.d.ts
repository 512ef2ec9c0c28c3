import type {Options} from '@anthropic-ai/claude-agent-sdk';
import type {Kioku, Message, ToolOptions} from '../index.js';

/** Returns options for query(), with the memory tools and hooks that recall and store, and end, to be called after the last message. */
export function withMemory(kioku: Kioku, options?: ToolOptions & {onError?: (err: Error) => void}): {
  options: Pick<Options, 'mcpServers' | 'allowedTools' | 'hooks'>;
  end: () => Promise<void>;
};
/** Returns what the user and the model said in a transcript of Claude Code. */
export function readTranscript(jsonl: string): Message[];
