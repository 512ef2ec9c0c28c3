import type {LanguageModel, LanguageModelMiddleware, ModelMessage, ToolSet} from 'ai';
import type {Ask, Kioku, Message, RecallOptions, Session, ToolOptions} from '../index.js';

/** Returns the memory tools for generateText, streamText and agents. */
export function memoryTools(kioku: Kioku, options?: ToolOptions): Promise<ToolSet>;
/** Returns middleware for wrapLanguageModel that adds to the newest message of the user what memory has about it. */
export function recallMiddleware(kioku: Kioku, options?: RecallOptions & {onError?: (err: Error) => void}): LanguageModelMiddleware;
/** Returns a prepareStep that makes the conversation one that loses nothing. */
export function remember(session: Session): (step: any) => Promise<any>;
/** Returns the messages of a conversation as a session takes them, for Session.flush and Session.end. */
export function toMessages(messages: ModelMessage[]): Message[];
/** Returns the ask of a session for a model of the AI SDK. */
export function askWith(model: LanguageModel): Ask;
