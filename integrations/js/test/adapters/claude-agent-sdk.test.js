import assert from 'node:assert/strict';
import {once} from 'node:events';
import {createServer} from 'node:http';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import {Daemon} from '../daemon.js';

const sdk = await import('@anthropic-ai/claude-agent-sdk').catch(() => undefined);
const skip = sdk ? false : 'the package @anthropic-ai/claude-agent-sdk is not installed';
const {withMemory, readTranscript} = sdk ? await import('@kioku/client/claude-agent-sdk') : {};

/** A Messages API on loopback that answers each request with what a function returns, as a stream. */
async function scripted(t, answer) {
  const requests = [];
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const part of req) body += part;
    if (!req.url.startsWith('/v1/messages') || req.url.includes('count_tokens')) return res.writeHead(200, {'content-type': 'application/json'}).end('{"input_tokens": 10}');
    const request = JSON.parse(body);
    requests.push(request);
    res.writeHead(200, {'content-type': 'text/event-stream'});
    for (const event of eventsOf(answer(request))) res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    res.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return {url: `http://127.0.0.1:${server.address().port}`, requests};
}

/** Returns the events of an answer: a text, or a call of a tool. */
function eventsOf(answer) {
  const text = typeof answer === 'string';
  const block = text ? {type: 'text', text: ''} : {type: 'tool_use', id: `toolu_${answer.id}`, name: answer.name, input: {}};
  const delta = text ? {type: 'text_delta', text: answer} : {type: 'input_json_delta', partial_json: JSON.stringify(answer.input)};
  return [
    {type: 'message_start', message: {id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-test', content: [], stop_reason: null, usage: {input_tokens: 1, output_tokens: 1}}},
    {type: 'content_block_start', index: 0, content_block: block},
    {type: 'content_block_delta', index: 0, delta},
    {type: 'content_block_stop', index: 0},
    {type: 'message_delta', delta: {stop_reason: text ? 'end_turn' : 'tool_use'}, usage: {output_tokens: 1}},
    {type: 'message_stop'},
  ];
}

/** Returns a folder that is the home of Claude Code in a test. */
function makeHome(t) {
  const home = mkdtempSync(join(tmpdir(), 'kioku-claude-'));
  t.after(() => rmSync(home, {recursive: true, force: true, maxRetries: 5}));
  return home;
}

/** Runs a query of the real SDK and returns its result. */
async function ask(home, url, prompt, options) {
  const env = {PATH: process.env.PATH, HOME: home, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-ant-test', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1'};
  const log = [];
  let result;
  for await (const message of sdk.query({prompt, options: {env, cwd: home, settingSources: [], model: 'claude-sonnet-4-5', stderr: (line) => log.push(line), ...options}})) {
    if (message.type === 'result') result = message;
  }
  assert.ok(result, `no result:\n${log.join('\n')}`);
  return result;
}

const texts = (message) => (typeof message.content === 'string' ? [message.content] : message.content.flatMap((p) => p.text ?? []));

test('Claude Agent SDK: memories are recalled, notes are stored with the tools, and the end of a session is stored', {skip}, async (t) => {
  const daemon = await Daemon.start(t, {'memory/2026-01-10.md': '# 2026-01-10\n\nThe boiler pressure fell to 0.8 bar.\n'}, '--set', 'llm.provider=echo');
  const kioku = daemon.connect(t);
  const results = [];
  const {url, requests} = await scripted(t, ({messages, tools = []}) => {
    const last = messages.at(-1);
    const result = Array.isArray(last.content) && last.content.find((p) => p.type === 'tool_result');
    if (result) results.push(result);
    const tool = tools.find((d) => d.name.endsWith('memory_append'));
    return tool && !result ? {id: 'a', name: tool.name, input: {text: 'The cellar key is under the third stone.'}} : 'It is noted.';
  });
  const errors = [];
  const memory = withMemory(kioku, {onError: (err) => errors.push(err)});
  const home = makeHome(t);
  const done = await ask(home, url, 'What was the boiler pressure?', memory.options);
  assert.equal(done.result, 'It is noted.');
  const first = requests.find((r) => r.tools?.length > 0);
  assert.ok(first.messages.flatMap(texts).some((text) => /0\.8 bar/.test(text)), 'the hook adds what memory has about the prompt');
  assert.ok(first.tools.some((d) => d.name === 'mcp__kioku__memory_search'));
  assert.equal(results[0].is_error ?? false, false, JSON.stringify(results));
  assert.match(daemon.notes(), /third stone\..*from=agent/s);
  const kinds = async () => (await kioku.call('GET /v1/turns', {session: `claude-code-${done.session_id}`})).turns.map((turn) => turn.kind);
  await ask(home, url, '/compact', {...memory.options, resume: done.session_id});
  assert.deepEqual(await kinds(), ['flush', 'recall'], 'what is compacted is flushed before');
  await ask(home, url, 'Thank you.', {...memory.options, resume: done.session_id});
  await memory.end();
  assert.deepEqual((await kinds()).filter((kind) => kind === 'flush').length, 2, 'the end of the session is flushed');
  assert.deepEqual(errors, []);
});

test('Claude Agent SDK: an agent goes on without memory when the service is away', {skip}, async (t) => {
  const daemon = await Daemon.start(t);
  const kioku = daemon.connect(t);
  await daemon.stop();
  const {url} = await scripted(t, () => 'Hello.');
  const errors = [];
  const done = await ask(makeHome(t), url, 'Hello?', withMemory(kioku, {onError: (err) => errors.push(err.message)}).options);
  assert.equal(done.result, 'Hello.');
  assert.match(errors.join(), /no Kioku service answers/);
});

test('Claude Agent SDK: of a transcript, only what the user and the model said is stored, as the hooks of Kioku read it', {skip}, () => {
  const read = (name) => readFileSync(new URL(`../../../testdata/claude-code.${name}`, import.meta.url), 'utf8');
  assert.deepEqual(readTranscript(read('jsonl')), JSON.parse(read('json')));
});

/** Calls a hook as the SDK does. */
const called = (memory, event, id, path, fields) => memory.options.hooks[event][0].hooks[0]({hook_event_name: event, session_id: id, transcript_path: path, ...fields});

test('Claude Agent SDK: no transcript makes a hook or the other ends fail, and an end that fails is tried again', {skip}, async (t) => {
  const daemon = await Daemon.start(t, {}, '--set', 'llm.provider=echo');
  const kioku = daemon.connect(t);
  const errors = [];
  const memory = withMemory(kioku, {onError: (err) => errors.push(err.message)});
  const missing = join(daemon.home, 'none.jsonl');
  const half = join(daemon.home, 'half.jsonl');
  writeFileSync(half, '{"type":"user","uuid":"u1","message":{"role":"user","content":"We moved to Kobe."}}\n{"type":"assist');
  for (const event of ['Stop', 'PreCompact', 'SessionEnd']) assert.deepEqual(await called(memory, event, 'a', missing), {});
  assert.deepEqual(errors, []);
  await called(memory, 'Stop', 'folder', daemon.home); // which cannot be read
  await called(memory, 'Stop', 'b', half);
  assert.match(errors.join(), /^EISDIR/);
  await daemon.stop();
  await memory.end();
  assert.match(errors.at(-1), /no Kioku service answers/);
  await daemon.run();
  errors.length = 0;
  await memory.end();
  assert.deepEqual([errors.length, errors[0].slice(0, 6)], [1, 'EISDIR'], 'the others are ended');
  const {turns} = await kioku.call('GET /v1/turns', {session: 'claude-code-b'});
  // The service has stored what it had kept on disk when it stopped, or the end has, or each a part.
  assert.deepEqual([...new Set(turns.map((turn) => turn.kind))], ['flush'], 'under the name that it has in the hooks of Kioku');
});

test('Claude Agent SDK: a note after the result of another tool says so, until the next message (F09)', {skip}, async (t) => {
  const daemon = await Daemon.start(t);
  const memory = withMemory(daemon.connect(t));
  const {Client} = await import('@modelcontextprotocol/sdk/client/index.js');
  const {InMemoryTransport} = await import('@modelcontextprotocol/sdk/inMemory.js');
  const [near, far] = InMemoryTransport.createLinkedPair();
  await memory.options.mcpServers.kioku.instance.connect(far);
  const client = new Client({name: 'test', version: '1'});
  await client.connect(near);
  const append = async (text) => {
    await client.callTool({name: 'memory_append', arguments: {text}});
    await called(memory, 'PostToolUse', 's', '', {tool_name: 'mcp__kioku__memory_append'});
  };
  await append('The user likes tea.');
  await append('The user likes coffee.');
  await called(memory, 'PostToolUse', 's', '', {tool_name: 'WebFetch'});
  await append('The page says that tea is bad.');
  await called(memory, 'UserPromptSubmit', 's', '', {prompt: 'I like juice.'});
  await append('The user likes juice.');
  assert.deepEqual([...daemon.notes().matchAll(/(tea|coffee|bad|juice)\..*?from=(\w+)/gs)].map(([, word, source]) => `${word} ${source}`),
    ['tea agent', 'coffee agent', 'bad tool', 'juice agent']);
});
