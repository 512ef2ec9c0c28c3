import assert from 'node:assert/strict';
import {test} from 'node:test';
import {identify} from '../lib/messages.js';
import {KiokuError} from '@kioku/client';
import {recentSessions} from '../lib/recent.js';
import {SentMessages} from '../lib/sent.js';
import {Daemon, earlier} from './daemon.js';
import {ScriptedModel} from './scripted.js';

const said = (role, text, fields) => ({role, text, ...fields});
const fail = (err) => { throw err; };

test('memoryTools defines and runs the tools as the service does: no client re-implements argument checks and aliases', async (t) => {
  const client = (await Daemon.start(t)).connect(t);
  const tools = Object.fromEntries((await client.memoryTools()).map((tool) => [tool.name, tool]));
  assert.equal(tools.memory_search.inputSchema.type, 'object');
  const stored = await tools.memory_append.call({text: 'The cellar key is under the third stone.'});
  assert.deepEqual([stored.failed, /memory\//.test(stored.output)], [false, true], stored.output);
  await client.sync();
  const found = await tools.memory_search.call('{"query": "cellar key", "top_k": 1}');
  assert.match(JSON.parse(found.output).results[0].snippet, /third stone/);
  const wrong = await tools.memory_search.call({query: 'x', colour: 'red'});
  assert.deepEqual([wrong.failed, /colour/.test(wrong.output)], [true, true], wrong.output);
});

test('a group has fewer tools', async (t) => {
  const client = (await Daemon.start(t)).connect(t);
  const names = async (options) => (await client.memoryTools(options)).map((tool) => tool.name);
  assert.ok((await names({})).includes('memory_search'));
  assert.ok(!(await names({channel: 'discord:general'})).includes('memory_search'));
});

test('a tool that cannot be run tells the model', async (t) => {
  const daemon = await Daemon.start(t);
  const [tool] = await daemon.connect(t).memoryTools();
  await daemon.stop();
  const {output, failed} = await tool.call({query: 'x'});
  assert.ok(failed);
  assert.match(output, /no Kioku service answers/);
});

test('update corrects a line of MEMORY.md, and an undo takes it back', async (t) => {
  const client = (await Daemon.start(t, {'MEMORY.md': '# Memory\n\n- Mia drinks green tea.\n'})).connect(t);
  const {revision} = await client.update('green tea', 'black tea', {reason: 'she said so'});
  assert.match((await client.get('MEMORY.md')).text, /black tea/);
  await client.undo(revision);
  assert.match((await client.get('MEMORY.md')).text, /green tea/);
});

test('messages without ids get the same ones in the next process, and after older messages are gone', () => {
  const talk = [said('user', 'yes'), said('assistant', 'Which?'), said('user', 'yes'), said('assistant', 'Which?'), said('user', 'yes')];
  const ids = identify(talk).map((m) => m.id);
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual(identify(structuredClone(talk)).map((m) => m.id), ids);
  const other = [said('user', 'no'), said('assistant', 'Fine.'), said('user', 'The key is blue.')];
  assert.equal(identify(other.slice(1)).at(-1).id, identify(other).at(-1).id);
  assert.equal(identify([said('user', 'x', {id: 'mine'})])[0].id, 'mine');
  assert.throws(() => identify([{role: 'user', content: 'of another library'}]), /toMessages/);
});

test('each message is sent whole once: afterwards its id stands for it, and two ids for all between them', async () => {
  const sent = new SentMessages(fail, fail);
  const calls = [];
  const send = (ids, unknown = []) => sent.send(ids.map((id) => ({id, role: 'user', text: id.repeat(3)})), async (messages) => {
    calls.push(messages.map((m) => m.text ?? (m.throughId ? `${m.id}..${m.throughId}` : m.id)));
    if (unknown.length > 0 && messages.some((m) => !m.text)) throw new KiokuError('unknown', {code: 'FAILED_PRECONDITION', reason: 'UNKNOWN_MESSAGES'});
  });
  await send(['a', 'b']);
  await send(['a', 'b', 'c']);
  await send(['a', 'b', 'c', 'd', 'e']);
  await send(['S', 'd', 'e', 'f']); // a summary in place of what was before d
  await send(['S', 'd', 'e', 'f', 'g'], ['S', 'd', 'e', 'f']); // a service that was started anew
  await send(['S', 'd', 'e', 'f', 'g']);
  assert.deepEqual(calls, [['aaa', 'bbb'], ['a..b', 'ccc'], ['a..c', 'ddd', 'eee'], ['SSS', 'd', 'e', 'fff'],
    ['S..f', 'ggg'], ['SSS', 'ddd', 'eee', 'fff', 'ggg'], ['S..g']]);
  await assert.rejects(sent.send([{id: 'x', text: 'x'}], async () => { throw new Error('away'); }), /away/);
});

test('messages that are too long for a request are sent in parts, and of a session that is too long the newest', async () => {
  const calls = [];
  const reports = [];
  const record = (name) => async (messages) => {
    calls.push([name, ...messages.map((m) => (m.text ? `${m.id}:${m.text.length >> 10}k` : m.throughId ? `${m.id}..${m.throughId}` : m.id))]);
  };
  const sent = new SentMessages(record('tell'), (err) => reports.push(err.message));
  const messages = (from, n, kib) => Array.from({length: n}, (_, i) => ({id: `m${from + i}`, role: 'user', text: 'x'.repeat(kib << 10)}));
  const first = messages(0, 8, 900);
  await sent.send(first, record('end'));
  assert.deepEqual(calls, [['tell', 'm0:900k', 'm1:900k', 'm2:900k'], ['tell', 'm0..m2', 'm3:900k', 'm4:900k', 'm5:900k'], ['end', 'm0..m5', 'm6:900k', 'm7:900k']]);
  calls.length = 0;
  await sent.send([...first, ...messages(8, 1, 5000)], record('check'));
  assert.deepEqual(calls, [['check', 'm0..m7', 'm8:1024k']], 'a longer text is sent with its beginning and its end');
  assert.deepEqual(reports, []);
  calls.length = 0;
  await sent.send([...first, ...messages(8, 30, 900)], record('check'));
  assert.equal(calls.at(-1).at(-1), 'm37:900k');
  assert.match(reports.join(), /of 38 messages the newest 13 are sent/);
});

test('a message or a history that is too long for a request takes nothing away from a turn, and its end is stored', {timeout: 60_000}, async (t) => {
  const daemon = await Daemon.start(t, {'SOUL.md': 'Be kind.\n', 'memory/2026-01-10.md': '# 2026-01-10\n\nThe boiler pressure fell to 0.8 bar.\n'});
  const client = daemon.connect(t);
  const log = 'lorem ipsum dolor sit amet '.repeat(220_000); // 6 MB
  const facts = ['My dentist is Dr. Aoki.', 'We moved to Kobe.'];
  const model = new ScriptedModel(facts);
  const session = client.session('long', {ask: model.ask, windowTokens: 8_000_000, onError: fail});
  const one = await session.before([said('user', `What was the boiler pressure? ${log}`)]);
  assert.match(one.system, /Be kind\./);
  assert.match(one.recall.query, /boiler pressure[^]*dolor sit amet/);
  assert.ok(one.messages[0].text.length > 5_000_000, 'the model of the agent gets the whole message');
  const messages = [said('user', facts[0]), ...Array.from({length: 20}, (_, i) => said(i % 2 ? 'user' : 'assistant', `${i} ${log.slice(0, 400_000)}`)),
    said('assistant', '', {toolCalls: [{id: 'c', name: 'Read', input: JSON.stringify({log})}]}), said('tool', log, {toolCallId: 'c', toolName: 'Read'}), said('user', facts[1])];
  const history = client.session('history', {ask: model.ask, windowTokens: 8_000_000, onError: fail});
  assert.match((await history.before(messages)).system, /Be kind\./);
  assert.equal((await history.end(messages)).outcome, 'done');
  for (const fact of facts) assert.ok(daemon.notes().includes(fact), fact);
});

test('what is written after the model read the result of a tool says so (F09)', async (t) => {
  const daemon = await Daemon.start(t);
  const client = daemon.connect(t);
  const session = client.session('web', {onError: fail});
  const append = (await client.memoryTools({session})).find((tool) => tool.name === 'memory_append');
  const talk = [said('user', 'What does the page say?')];
  const sourceAfter = async (...messages) => {
    talk.push(...messages);
    await session.before(talk);
    return session.source;
  };
  assert.equal(await sourceAfter(), 'agent');
  assert.equal(await sourceAfter(said('assistant', '', {toolCalls: [{id: 'a', name: 'memory_append', input: '{}'}]}), said('tool', 'saved', {toolCallId: 'a', toolName: 'memory_append'})), 'agent');
  assert.equal(await sourceAfter(said('assistant', '', {toolCalls: [{id: 'w', name: 'fetch', input: '{}'}]}), said('tool', 'Tea is bad.', {toolCallId: 'w', toolName: 'fetch'})), 'tool');
  await append.call({text: 'The page says that tea is bad.'});
  assert.match(daemon.notes(), /tea is bad\..*from=tool/);
  assert.equal(await sourceAfter(said('assistant', 'Bad.'), said('user', 'I like tea.')), 'agent');
  await append.call({text: 'The user likes tea.'});
  assert.match(daemon.notes(), /likes tea\..*from=agent/);
});

test('a program keeps the sessions that it used last', () => {
  const opened = [];
  const sessions = recentSessions((id) => opened.push(id) && {id}, 2);
  for (const id of ['a', 'b', 'a', 'c', 'a', 'b']) assert.equal(sessions.get(id).id, id);
  assert.deepEqual(opened, ['a', 'b', 'c', 'b']);
});

test('a turn goes on when the service is away, and the session with it when it is back', async (t) => {
  const daemon = await Daemon.start(t, {'SOUL.md': 'Be kind.\n'});
  const errors = [];
  const session = daemon.connect(t).session('away', {onError: (err) => errors.push(err)});
  const messages = [said('user', 'Hello?')];
  const {system} = await session.before(messages);
  assert.match(system, /Be kind\./);
  await daemon.stop();
  messages.push(said('assistant', 'Hello.'), said('user', 'Still there?'));
  const turn = await session.before(messages);
  assert.deepEqual([turn.system, turn.turnBlock, turn.messages.length], [system, '', 3]);
  assert.match(errors[0].message, /no Kioku service answers/);
  await daemon.run();
  errors.length = 0;
  assert.equal((await session.before(messages)).system, system);
  assert.deepEqual(errors, [], 'the messages that the new process does not have are sent whole');
});

test('old results of tools are shortened in what is sent, once the cache of the provider has gone cold', async (t) => {
  const client = (await Daemon.start(t)).connect(t);
  const session = client.session('pruned', {windowTokens: 15_000, onError: fail});
  const log = `begins ${'x'.repeat(20_000)} ends`;
  const messages = [said('user', 'Read it.'), said('assistant', '', {toolCalls: [{id: 'r', name: 'read', input: '{}'}]}),
    said('tool', log, {toolCallId: 'r', toolName: 'read'}), said('assistant', 'I have.'), said('user', 'Sure?'), said('assistant', 'Yes.'), said('user', 'And?')];
  const warm = await earlier(() => session.before(messages));
  assert.deepEqual([warm.shortened.size, warm.messages[2].text.length], [0, log.length]);
  messages.push(said('assistant', 'Nothing.'), said('user', 'Thanks.'));
  const cold = await session.before(messages);
  assert.deepEqual([...cold.shortened.keys()], [2]);
  assert.match(cold.messages[2].text, /^begins x+[^]*x ends/);
  assert.ok(cold.messages[2].text.length < 5000 && messages[2].text === log, 'the messages of the caller stay as they are');
  assert.equal((await session.before(messages)).messages[2].text, cold.messages[2].text, 'they stay short, byte for byte');
});

test('what the user said is recalled in the message of the next turn, and the system prompt is constant', async (t) => {
  const client = (await Daemon.start(t, {'memory/2026-01-10.md': '# 2026-01-10\n\nThe boiler pressure fell to 0.8 bar.\n'})).connect(t);
  const session = client.session('constant', {onError: fail});
  const first = await session.before([said('user', 'Hello!')]);
  const second = await session.before([said('user', 'Hello!'), said('assistant', 'Hello.'), said('user', 'What was the boiler pressure?')]);
  assert.equal(second.system, first.system);
  assert.match(second.turnBlock, /0\.8 bar/);
});

test('notes of a session say the channel and the author of what they are made of', async (t) => {
  const daemon = await Daemon.start(t);
  const author = {id: '7', name: 'Mia', isOwner: true};
  const session = daemon.connect(t).session('guild', {ask: new ScriptedModel(['The stand-up is at nine.']).ask, channel: 'discord:general', onError: fail});
  await session.before([said('user', 'The stand-up is at nine.', {author})]);
  await session.flush([said('user', 'The stand-up is at nine.', {author})]);
  assert.match(daemon.notes(), /The stand-up is at nine\..*from=flush.*channel=discord:general/);
});

test('the end of a session stores what was not stored; without a model it is kept for the next flush', async (t) => {
  const daemon = await Daemon.start(t);
  const client = daemon.connect(t);
  const kept = await client.session('short').end([said('user', 'My brother is called Jonas.'), said('assistant', 'Good to know.')]);
  assert.equal(kept.outcome, 'kept', kept.reason);
  const model = new ScriptedModel(['My brother is called Jonas.']);
  await client.session('short', {ask: model.ask, onError: fail}).flush([]);
  assert.match(daemon.notes(), /My brother is called Jonas\./);

  const own = client.session('own', {ask: new ScriptedModel(['We moved to Kobe.']).ask, onError: fail});
  const ended = await own.end([said('user', 'We moved to Kobe.')]);
  assert.deepEqual([ended.outcome, ended.uncoveredCount], ['done', 0]);
  await client.sync();
  assert.match((await client.recall('Where did we move?')).block, /Kobe/);
});
