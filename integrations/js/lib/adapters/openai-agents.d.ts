import type {CallModelInputFilter, FunctionTool, Session as Items} from '@openai/agents';
import type {Ended, Kioku, Session, ToolOptions} from '../index.js';

/** Returns the memory tools for an Agent. With the KiokuSession of the run as `session`, notes say whether they may come from results of other tools. */
export function memoryTools(kioku: Kioku, options?: ToolOptions): Promise<FunctionTool[]>;

/** A Session whose conversation loses nothing: `run(agent, input, {session, callModelInputFilter: session.filter})`. */
export class KiokuSession implements Items {
  /** The items are in the memory of this process, unless another Session is given. */
  constructor(session: Session, items?: Items);
  filter: CallModelInputFilter;
  readonly source: string;
  getSessionId(): Promise<string>;
  getItems(limit?: number): Promise<any[]>;
  addItems(items: any[]): Promise<void>;
  popItem(): Promise<any>;
  /** Ends the conversation: what is not stored of it is stored, and then the items go. If that fails, it throws, and the items stay. */
  clearSession(): Promise<void>;
  /** Ends the conversation: what is not stored of it is stored. */
  end(): Promise<Ended>;
}
