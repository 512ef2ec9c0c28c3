// An agent that remembers. Kioku gives it the prompt, the memory, flush and compaction; the model here is a scripted one,
// so that it runs without a key: put a call to a real model in the place of model().
'use strict';
const {randomUUID} = require('node:crypto');
const path = require('node:path');
const readline = require('node:readline');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const agent = process.env.KIOKU_AGENT || 'main';
const session = process.env.KIOKU_SESSION || 'node-demo';
const target = process.env.KIOKU_TARGET || '127.0.0.1:7600';
const window_ = Number(process.env.KIOKU_WINDOW || 3000); // tokens that the model takes

const {kioku} = grpc.loadPackageDefinition(loader.loadSync(['kioku/v1/agent.proto'], {
  includeDirs: [path.join(__dirname, '../../proto')], keepCase: true, defaults: true, longs: Number,
}));

// service returns the methods of a gRPC service as functions that return promises.
function service(name) {
  const client = new kioku.v1[name](target, grpc.credentials.createInsecure());
  return new Proxy({}, {get: (_, method) => (fields) => new Promise((resolve, reject) =>
    client[method]({agent, ...fields}, {deadline: Date.now() + 60_000}, (err, answer) => err ? reject(err) : resolve(answer)))});
}
const sidecar = service('AgentService');

const saved = 'saved'; // what a call in a flush returns

// model is a stand-in for a language model: it returns what it says and the tools that it calls. A real one is given the tools with
// their names, descriptions and schemas.
function model(system, messages, tools) {
  const offered = (name) => tools.some((t) => t.name === name);
  const {role, text} = messages.at(-1);
  if (role === 'tool') return {answer: text === saved ? 'NO_REPLY' : `Done: ${text}`, calls: []};
  if (text.includes('NO_REPLY')) { // the flush asks what is worth keeping: here all that the user has stated
    const stated = messages.slice(0, -1).filter((m) => m.role === 'user' && /^(My|We|I) [^?]*$/.test(m.text));
    return {answer: 'NO_REPLY', calls: stated.map((m) => ({name: 'memory_append', input: {text: m.text, category: 'fact'}}))};
  }
  if (text.startsWith('remember ') && offered('memory_append')) return {answer: '', calls: [{name: 'memory_append', input: {text: text.slice(9)}}]};
  if (text.startsWith('search ') && offered('memory_search')) return {answer: '', calls: [{name: 'memory_search', input: {query: text.slice(7)}}]};
  const found = (system.split('### Recalled Memories')[1] || '').match(/"text":("(?:[^"\\]|\\.)*")/);
  return {answer: found ? `I remember: ${lastLine(JSON.parse(found[1]))}` : 'I have no memory of that.', calls: []};
}

const lastLine = (text) => text.trim().split('\n').at(-1);

// tell tells of an error, such as a service that is away: the conversation goes on with the messages that it has.
const tell = (err) => console.log(`  [${grpc.status[err.code] || err.name}: ${err.details || err.message}]`);

let messages = [];
let tools;
let known = new Set(); // ids of the messages that the service has
// The id of a message is its own, also in the next process.
const say = (role, text, fields) => messages.push({id: randomUUID(), role, text, ...fields});

// call makes a call with the messages of the session. Those that were sent before are named by their ids.
async function call(method, fields) {
  const short = messages.map((m) => known.has(m.id) ? {id: m.id} : m);
  const whole = (err) => { // the service was started anew
    if (err.code !== grpc.status.FAILED_PRECONDITION || known.size === 0) throw err;
    return sidecar[method]({session, messages, ...fields});
  };
  const answer = await sidecar[method]({session, messages: short, ...fields}).catch(whole);
  known = new Set(messages.map((m) => m.id));
  return answer;
}

async function turn(text) {
  await makeRoom(text).catch(tell);
  tools ??= (await sidecar.ListTools({channel: 'terminal'})).tools;
  const {prompt, turn_block, recall} = await sidecar.AssemblePrompt({message: text, channel: 'terminal', model: 'scripted'});
  const system = prompt + turn_block; // a real agent sends turn_block as a part of the newest message of the user, behind its text
  for (const r of recall.recalled) console.log(`  [recalled ${r.path}:${r.start_line}]`);
  say('user', text);
  let {answer, calls} = model(system, messages, tools);
  while (calls.length > 0) {
    const ids = calls.map((c, i) => ({id: `c${messages.length}.${i}`, name: c.name, input: JSON.stringify(c.input)}));
    say('assistant', answer, {tool_calls: ids});
    for (const [i, c] of calls.entries()) say('tool', await tool(c), {tool_call_id: ids[i].id, tool_name: c.name});
    ({answer, calls} = model(system, messages, tools));
  }
  say('assistant', answer);
  console.log(answer);
}

async function tool({name, input}) {
  console.log(`  [${name} ${JSON.stringify(input)}]`);
  // A mistake of the model is in the output, for the model.
  return (await sidecar.CallTool({name, input: JSON.stringify(input), channel: 'terminal'})).output;
}

// makeRoom does what CheckFlush says: it has memories stored, and then old messages made a summary.
async function makeRoom(text) {
  const size = messages.reduce((n, m) => n + m.text.length, 0);
  const due = await call('CheckFlush', {window_tokens: window_,
    projected_tokens: Math.floor((size + text.length) / 4), transcript_bytes: size});
  if (due.flush) await flush().catch(tell); // what was not stored stays: Compact drops nothing of it
  if (due.compact) await compact();
}

// flush shows the model range by range what is not stored, oldest first, and commits the notes that it makes.
async function flush() {
  for (;;) {
    const begun = await call('BeginFlush', {window_tokens: window_});
    if (begun.outcome === 'nothing') return;
    // Where the model refuses this as too long, call BeginFlush again with too_long: true.
    const asked = [...begun.messages, {role: 'user', text: begun.user_prompt}];
    const notes = [];
    let {answer, calls} = model(begun.system_prompt, asked, [begun.tool]);
    while (calls.length > 0) { // many models make one call an answer: the model is done when it makes none
      notes.push(...calls.map((c) => c.input));
      const made = calls.map((c, i) => ({id: `f${asked.length}.${i}`, name: c.name, input: JSON.stringify(c.input)}));
      asked.push({role: 'assistant', text: answer, tool_calls: made});
      asked.push(...made.map((c) => ({role: 'tool', text: saved, tool_call_id: c.id, tool_name: c.name})));
      ({answer, calls} = model(begun.system_prompt, asked, [begun.tool]));
    }
    const done = await sidecar.CommitFlush({lease: begun.lease, notes, reply: answer});
    console.log(`  [flush committed: ${done.covered_count} messages, ${done.notes.length} notes${done.silent ? ', silent' : ''}]`);
  }
}

async function compact() {
  const answer = await call('Compact', {window_tokens: window_});
  if (answer.outcome !== 'compacted') return console.log(`  [not compacted: ${answer.reason}]`);
  messages = [answer.message, ...messages.slice(messages.findIndex((m) => m.id === answer.first_kept_id))];
  console.log(`  [compacted: ${answer.tokens_before} -> ${answer.tokens_after} tokens]`);
}

// end ends the session: what is not stored of it is, by the model of the service, or by the agent's own.
async function end() {
  const {outcome} = await call('EndSession', {});
  console.log(`  [session ended: ${outcome}]`);
  if (outcome === 'kept') await flush();
}

async function main() {
  for await (const line of readline.createInterface({input: process.stdin})) {
    await turn(line.trim()).catch(tell);
  }
  await end().catch(tell);
  process.exit(0);
}
main();
