/**
 * A memory tool, as the APIs of model providers take it.
 * @typedef {object} MemoryTool
 * @property {string} name
 * @property {string} description
 * @property {Record<string, any>} inputSchema JSON Schema of the input.
 * @property {(input: unknown) => Promise<{output: string, failed: boolean}>} call Runs the tool with what the model gave. The output is for
 *   the model, also if the tool failed; a service that does not answer is such a failure.
 */
export type MemoryTool = {
    name: string;
    description: string;
    /**
     * JSON Schema of the input.
     */
    inputSchema: Record<string, any>;
    /**
     * Runs the tool with what the model gave. The output is for
     * the model, also if the tool failed; a service that does not answer is such a failure.
     */
    call: (input: unknown) => Promise<{
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
     * Who writes: "agent" unless it is set, "tool" once the model has read results of other tools.
     */
    source?: string;
};
/**
 * In which conversation the tools are used.
 * @typedef {object} ToolOptions
 * @property {string} [channel] Channel of the conversation, such as "terminal" or "discord:general".
 * @property {boolean} [group] Several people take part: a group has fewer tools. Unset means that the channel decides.
 * @property {string} [source] Who writes: "agent" unless it is set, "tool" once the model has read results of other tools.
 */
/**
 * Returns the memory tools of an agent.
 * @param {import('./client.js').Kioku} client
 * @param {ToolOptions} [options]
 * @returns {Promise<MemoryTool[]>}
 */
export declare function listTools(client: import('./client.js').Kioku, options?: ToolOptions): Promise<MemoryTool[]>;
