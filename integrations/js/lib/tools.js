/** Tool whose result the model has not read from anywhere. */
export const appendTool = 'memory_append';

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
export async function listTools(client, options = {}) {
  const {channel, group} = options;
  const {tools} = await client.agents.listTools({channel, group});
  return tools.map(({name, description, inputSchema}) => ({
    name, description, inputSchema: JSON.parse(inputSchema),
    call: (input, by) => callTool(client, name, input, {channel, group, source: options.source ?? by?.source ?? options.session?.source}),
  }));
}

/**
 * @param {import('./client.js').Kioku} client
 * @param {string} name
 * @param {unknown} input
 * @param {{channel?: string, group?: boolean, source?: string}} conversation
 */
async function callTool(client, name, input, conversation) {
  try {
    const {output, failed} = await client.agents.callTool({...conversation, name, input: typeof input === 'string' ? input : JSON.stringify(input ?? {})});
    return {output, failed};
  } catch (err) {
    return {output: `${name}: ${/** @type {Error} */ (err).message}`, failed: true};
  }
}
