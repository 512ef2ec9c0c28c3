import type {BaseChatModel} from '@langchain/core/language_models/chat_models';
import type {BaseMessage} from '@langchain/core/messages';
import type {StructuredToolInterface} from '@langchain/core/tools';
import {BaseStore} from '@langchain/langgraph';
import type {Ask, Kioku, Message, SessionOptions, ToolOptions} from '../index.js';

/** Returns the memory tools for an agent. */
export function memoryTools(kioku: Kioku, options?: ToolOptions): Promise<StructuredToolInterface[]>;
/** Returns a preModelHook. The session of a thread has the name of its thread_id, which each call has to give. */
export function preModelHook(kioku: Kioku, options?: SessionOptions): (state: any, config: any) => Promise<{llmInputMessages: BaseMessage[]}>;
/** Returns the ask of a session for a chat model of LangChain. */
export function askWith(model: BaseChatModel): Ask;
/** Returns the messages of a thread as a session takes them, for Session.flush and Session.end. */
export function toMessages(messages: BaseMessage[]): Message[];

/** A store of LangGraph whose items are notes: `memory/store/NAMESPACE/KEY.md`. It runs on the machine of the service. */
export class KiokuStore extends BaseStore {
  constructor(kioku: Kioku);
  batch(operations: any): Promise<any>;
}
