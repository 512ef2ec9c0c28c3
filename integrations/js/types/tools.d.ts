/** Tool whose result the model has not read from anywhere. */
export declare const appendTool = "memory_append";
export type MemoryTool = {
    name: string;
    description: string;
    /**
     * JSON Schema of the input.
     */
    inputSchema: Record<string, any>;
    /**
     * Runs the tool with what the model
     * gave; `by` says who writes in this call. The output is for the model, also if the tool failed; a service that does not answer is such a failure.
     */
    call: (input: unknown, by?: {
        source?: string;
    }) => Promise<{
        output: string;
        failed: boolean;
    }>;
};
export type ToolOptions = {
    /**
     * Channel of the conversation, such as "terminal" or "discord:general".
     */
    channel?: string;
    /**
     * Several people take part: a group has fewer tools. Unset means that the channel decides.
     */
    group?: boolean;
    /**
     * Who writes: "agent", or "tool" once the model has read results of other tools. The adapters set it for each call,
     * unless it is set here.
     */
    source?: string;
    /**
     * Session of the conversation, which knows the source of each call from the messages that it has seen.
     */
    session?: {
        source: string;
    };
};
/**
 * A memory tool, as the APIs of model providers take it.
 * @typedef {object} MemoryTool
 * @property {string} name
 * @property {string} description
 * @property {Record<string, any>} inputSchema JSON Schema of the input.
 * @property {(input: unknown, by?: {source?: string}) => Promise<{output: string, failed: boolean}>} call Runs the tool with what the model
 *   gave; `by` says who writes in this call. The output is for the model, also if the tool failed; a service that does not answer is such a failure.
 */
/**
 * In which conversation the tools are used.
 * @typedef {object} ToolOptions
 * @property {string} [channel] Channel of the conversation, such as "terminal" or "discord:general".
 * @property {boolean} [group] Several people take part: a group has fewer tools. Unset means that the channel decides.
 * @property {string} [source] Who writes: "agent", or "tool" once the model has read results of other tools. The adapters set it for each call,
 *   unless it is set here.
 * @property {{source: string}} [session] Session of the conversation, which knows the source of each call from the messages that it has seen.
 */
/**
 * Returns the memory tools of an agent.
 * @param {import('./client.js').Kioku} client
 * @param {ToolOptions} [options]
 * @returns {Promise<MemoryTool[]>}
 */
export declare function listTools(client: import('./client.js').Kioku, options?: ToolOptions): Promise<MemoryTool[]>;
