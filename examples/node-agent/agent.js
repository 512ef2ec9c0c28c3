// An agent that remembers. Kioku gives it the prompt, the memory, flush and compaction; the model here is a scripted one,
// so that it runs without a key: put a call to a real model in the place of model().
'use strict';
const path = require('node:path');
const readline = require('node:readline');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const agent = process.env.KIOKU_AGENT || 'main';
const session = process.env.KIOKU_SESSION || 'node-demo';
const target = process.env.KIOKU_TARGET || '127.0.0.1:7600';
const window_ = Number(process.env.KIOKU_WINDOW || 3000); // tokens that the model takes
const holder = `node-agent/${session}`; // the same after a crash, so that a flush goes on where it was

const {kioku} = grpc.loadPackageDefinition(loader.loadSync(['kioku/v1/agent.proto', 'kioku/v1/memory.proto'], {
  includeDirs: [path.join(__dirname, '../../proto')], keepCase: true, defaults: true, longs: Number,
}));

// service returns the methods of a gRPC service as functions that return promises.
function service(name) {
  const client = new kioku.v1[name](target, grpc.credentials.createInsecure());
  return new Proxy({}, {get: (_, method) => (fields) => new Promise((resolve, reject) =>
    client[method]({agent, ...fields}, {deadline: Date.now() + 60_000}, (err, answer) => err ? reject(err) : resolve(answer)))});
}
const [sidecar, memory] = [service('AgentService'), service('MemoryService')];

// model is a stand-in for a language model: it returns what it says and the tools that it calls.
function model(system, messages) {
  const {role, text} = messages.at(-1);
  if (role === 'tool') return {answer: `Done: ${text}`, calls: []};
  if (text.includes('NO_REPLY')) { // the flush asks what is worth keeping: here all that the user has stated
    const stated = messages.slice(0, -1).filter((m) => m.role === 'user' && /^(My|We|I) [^?]*$/.test(m.text));
    return {answer: 'NO_REPLY', calls: stated.map((m) => ({name: 'memory_append', input: {text: m.text, category: 'fact'}}))};
  }
  if (text.startsWith('remember ')) return {answer: '', calls: [{name: 'memory_append', input: {text: text.slice(9)}}]};
  if (text.startsWith('search ')) return {answer: '', calls: [{name: 'memory_search', input: {query: text.slice(7)}}]};
  const found = (system.split('### Recalled Memories')[1] || '').match(/"text":("(?:[^"\\]|\\.)*")/);
  return {answer: found ? `I remember: ${lastLine(JSON.parse(found[1]))}` : 'I have no memory of that.', calls: []};
}

const lastLine = (text) => text.trim().split('\n').at(-1);

// tell tells of an error, such as a service that is away: the conversation goes on with the messages that it has.
const tell = (err) => console.log(`  [${grpc.status[err.code] || err.name}: ${err.details || err.message}]`);

let messages = [], cycle = null, made = 0;
const say = (role, text, fields) => messages.push({id: `m${++made}`, role, text, ...fields});

async function turn(text) {
  await makeRoom(text).catch(tell);
  const {prompt, recall} = await sidecar.AssemblePrompt({message: text, channel: 'terminal', model: 'scripted'});
  for (const r of recall.recalled) console.log(`  [recalled ${r.path}:${r.start_line}]`);
  say('user', text);
  let {answer, calls} = model(prompt, messages);
  while (calls.length > 0) {
    const ids = calls.map((c, i) => ({id: `c${made}.${i}`, name: c.name, input: JSON.stringify(c.input)}));
    say('assistant', answer, {tool_calls: ids});
    for (const [i, c] of calls.entries()) say('tool', await tool(c), {tool_call_id: ids[i].id, tool_name: c.name});
    ({answer, calls} = model(prompt, messages));
  }
  say('assistant', answer);
  console.log(answer);
}

async function tool({name, input}) {
  console.log(`  [${name} ${JSON.stringify(input)}]`);
  if (name === 'memory_append') {
    const note = await memory.MemoryAppend({...input, source: 'agent'});
    return `stored in ${note.path}:${note.start_line}`;
  }
  const {results, degraded} = await memory.MemorySearch({...input, max_results: 3});
  const lines = results.map((h) => `${h.citation}: ${lastLine(h.snippet)}`);
  return (lines.length > 0 ? lines : ['nothing found', ...degraded.map((d) => d.text)]).join('; ');
}

// makeRoom has memories stored before old messages become a summary, and goes on with a flush that a crash has ended.
async function makeRoom(text) {
  // A process keeps no messages for the next one, so it begins a cycle that was not flushed yet.
  cycle ??= (await sidecar.CheckFlush({session})).next_cycle;
  let due = await check(text);
  try {
    // Right before the compaction, not at due.flush already: in a small window it takes more than came since.
    while ((due.compact || due.unfinished) && await flush()) due = await check(text);
  } catch (err) { // a flush that fails keeps no history from being compacted
    tell(err);
  }
  if (due.compact) await compact();
}

function check(text) {
  const size = messages.reduce((n, m) => n + m.text.length, 0);
  return sidecar.CheckFlush({session, cycle, window_tokens: window_,
    projected_tokens: Math.floor((size + text.length) / 4), transcript_bytes: size});
}

// flush returns whether the flush was that of earlier messages: then those of now belong to a cycle of their own.
async function flush() {
  const begun = await sidecar.BeginFlush({session, cycle, holder, messages});
  if (begun.outcome === 'done') return false;
  const resumed = begun.outcome === 'resumed';
  const lease = {flush_id: begun.flush_id, holder};
  let told;
  try {
    const asked = [...(resumed ? begun.messages : messages), {role: 'user', text: begun.user_prompt}];
    // A key counts once: a model that may answer otherwise after a crash has its answer kept until the commit.
    told = model(begun.system_prompt, asked);
    for (const [i, {input}] of told.calls.entries()) {
      await memory.MemoryAppend({...input, target: 'daily', source: 'flush', idempotency_key: begun.note_key_prefix + (i + 1)});
    }
  } catch (err) {
    await sidecar.AbortFlush({...lease, reason: String(err)});
    throw err;
  }
  const {silent} = await sidecar.CommitFlush({...lease, reply: told.answer});
  console.log(`  [flush committed: ${told.calls.length} notes${resumed ? ', resumed' : ''}${silent ? ', silent' : ''}]`);
  if (resumed) cycle++;
  return resumed;
}

async function compact() {
  const summaryFirst = messages[0].id === 'summary';
  const answer = await sidecar.Compact({messages, summary_first: summaryFirst, window_tokens: window_});
  if (answer.outcome === 'nothing') return;
  messages = [{...answer.message, id: 'summary'}, ...messages.slice(messages.findIndex((m) => m.id === answer.first_kept_id))];
  cycle++;
  console.log(`  [compacted: ${answer.tokens_before} -> ${answer.tokens_after} tokens]`);
}

async function main() {
  for await (const line of readline.createInterface({input: process.stdin})) {
    await turn(line.trim()).catch(tell);
  }
  process.exit(0);
}
main();
