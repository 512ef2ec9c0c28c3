/**
 * A memory tool, as the APIs of model providers take it.
 * @typedef {object} MemoryTool
 * @property {string} name
 * @property {string} description
 * @property {Record<string, any>} inputSchema JSON Schema of the input.
 * @property {(input: unknown) => Promise<{output: string, failed: boolean}>} call Runs the tool with what the model gave. The output is for
 *   the model, also if the tool failed; a service that does not answer is such a failure.
 */

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
export async function listTools(client, options = {}) {
  const {channel, group} = options;
  const {tools} = await client.agents.listTools({channel, group});
  return tools.map(({name, description, inputSchema}) => ({
    name, description, inputSchema: JSON.parse(inputSchema),
    call: (input) => callTool(client, name, input, options),
  }));
}

/**
 * @param {import('./client.js').Kioku} client
 * @param {string} name
 * @param {unknown} input
 * @param {ToolOptions} options
 */
async function callTool(client, name, input, options) {
  try {
    const {output, failed} = await client.agents.callTool({...options, name, input: typeof input === 'string' ? input : JSON.stringify(input ?? {})});
    return {output, failed};
  } catch (err) {
    return {output: `${name}: ${/** @type {Error} */ (err).message}`, failed: true};
  }
}
