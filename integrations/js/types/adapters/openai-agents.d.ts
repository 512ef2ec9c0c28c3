export type Message = import('../messages.js').Message;
/**
 * Returns the memory tools for an Agent. With the KiokuSession of the run as the option `session`, notes say whether they may come from results
 * of other tools.
 * @param {import('../client.js').Kioku} kioku
 * @param {import('../tools.js').ToolOptions} [options]
 * @returns {Promise<import('@openai/agents').FunctionTool[]>}
 */
export declare function memoryTools(kioku: import('../client.js').Kioku, options?: import('../tools.js').ToolOptions): Promise<import('@openai/agents').FunctionTool[]>;
/**
 * A Session whose conversation loses nothing. It keeps the items in another Session, and prepares each turn as the input filter of the run:
 * `run(agent, input, {session, callModelInputFilter: session.filter})`.
 */
export declare class KiokuSession {
    #private;
    /**
     * @param {import('../session.js').Session} session
     * @param {import('@openai/agents').Session} [items] Where the items are; otherwise in the memory of this process.
     */
    constructor(session: import('../session.js').Session, items?: import('@openai/agents').Session);
    /** The system prompt of the workspace, what is recalled, and a summary in place of old items, for each request to the model.
     * @type {import('@openai/agents').CallModelInputFilter} */
    filter: import('@openai/agents').CallModelInputFilter;
    /** Who writes a note now, for memoryTools(kioku, {session}): "tool" if the model has read results of other tools in this turn. */
    get source(): string;
    getSessionId(): any;
    /** @param {number} [limit] */
    getItems(limit?: number): any;
    /** Adds items, without the ones that the filter has added. @param {any[]} items */
    addItems(items: any[]): any;
    popItem(): any;
    /** Ends the conversation: what is not stored of it is stored, and then the items go. If that fails, it throws, and the items stay. */
    clearSession(): Promise<void>;
    /** Ends the conversation: what is not stored of it is stored. */
    end(): Promise<import("../../gen/kioku/v1/agent_pb.js").EndSessionResponse>;
}
