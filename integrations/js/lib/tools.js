/** Tool whose result the model has not read from anywhere. */
export const appendTool = 'memory_append';

/** Returns the memory tools of an agent. */
export async function listTools(client, options = {}) {
  const {channel, group} = options;
  const {tools} = await client.call('GET /v1/tools', {channel, group});
  return tools.map(({name, description, inputSchema}) => ({
    name, description, inputSchema,
    call: (input, by) => callTool(client, name, input, {channel, group, source: options.source ?? by?.source ?? options.session?.source}),
  }));
}

async function callTool(client, name, input, conversation) {
  try {
    const {output, failed = false} = await client.call('POST /v1/tools:call', {...conversation, name, input: typeof input === 'string' ? parseInput(input) : input ?? {}});
    return {output, failed};
  } catch (err) {
    return {output: `${name}: ${err.message}`, failed: true};
  }
}

/** Returns the value of JSON; the text itself if it is none, which the service refuses with a hint for the model. */
export function parseInput(json) {
  try {
    return JSON.parse(json || '{}');
  } catch {
    return json;
  }
}
