import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Daemon, earlier, indexed} from '../daemon.js';
import {ScriptedModel} from '../scripted.js';

const agents = await import('@openai/agents').catch(() => undefined);
const skip = agents ? false : 'the package @openai/agents is not installed';
const {KiokuSession, memoryTools} = agents ? await import('@kioku/client/openai-agents') : {};
agents?.setTracingDisabled(true);

/** A model that answers as the functions of a list say, one for each request; the last one answers all further ones. */
function scripted(...answers) {
  const requests = [];
  const getResponse = async (request) => {
    requests.push(structuredClone({input: request.input, instructions: request.systemInstructions, tools: request.tools}));
    return {usage: new agents.Usage(), output: await answers[Math.min(requests.length, answers.length) - 1](request), responseId: `r${requests.length}`};
  };
  return {model: {getResponse, getStreamedResponse() { throw new Error('not streamed'); }}, requests};
}
const text = (value) => () => [{type: 'message', role: 'assistant', status: 'completed', content: [{type: 'output_text', text: value}]}];
const calls = (...made) => () => made.map(([name, input], i) => ({type: 'function_call', callId: `c${i}-${name}`, name, status: 'completed', arguments: JSON.stringify(input)}));

test('OpenAI Agents SDK: the model stores and finds notes with the memory tools', {skip}, async (t) => {
  const daemon = await Daemon.start(t);
  const kioku = daemon.connect(t);
  const {model, requests} = scripted(calls(['memory_append', {text: 'The cellar key is under the third stone.'}]),
    indexed(kioku, calls(['memory_search', {query: 'cellar key'}], ['memory_search', {query: 'x', colour: 'red'}])), text('Under the third stone.'));
  const agent = new agents.Agent({name: 'a', model, tools: await memoryTools(kioku)});
  const result = await agents.run(agent, 'Where is the key?');
  assert.equal(result.finalOutput, 'Under the third stone.');
  assert.match(daemon.notes(), /third stone\..*from=agent/s);
  const outputs = requests.at(-1).input.filter((i) => i.type === 'function_call_result').map((i) => JSON.stringify(i.output));
  assert.match(outputs[1], /third stone/);
  assert.match(outputs[2], /colour/);
});

test('OpenAI Agents SDK: a Session keeps the items, and the conversation loses nothing', {skip}, async (t) => {
  const daemon = await Daemon.start(t, {'memory/2026-01-10.md': '# 2026-01-10\n\nThe boiler pressure fell to 0.8 bar.\n', 'SOUL.md': 'Be brief.\n'});
  const kioku = daemon.connect(t);
  const notes = new ScriptedModel(['My dentist is Dr. Aoki.', 'We moved to Kobe.']);
  const session = new KiokuSession(kioku.session('agents', {ask: notes.ask, windowTokens: 6000, onError: (err) => { throw err; }}));
  const {model, requests} = scripted(calls(['memory_search', {query: 'dentist'}], ['memory_search', {query: 'tooth'}]),
    calls(['memory_append', {text: 'Nothing was found about teeth.'}]), text('I see.'));
  const agent = new agents.Agent({name: 'a', model, instructions: 'Answer in English.', tools: await memoryTools(kioku, {session})});
  let turns = 0;
  const say = (input) => {
    turns++;
    return agents.run(agent, input, {session, callModelInputFilter: session.filter});
  };

  await say('My dentist is Dr. Aoki.');
  for (let i = 0; i < 40 && !JSON.stringify(requests.at(-1).input).includes('They talked'); i++) await say(`${i} ${'lorem ipsum '.repeat(80)}`);
  await say('What was the boiler pressure?');
  const {input, instructions} = requests.at(-1);
  assert.match(instructions, /^Answer in English\.[^]*Be brief\./);
  assert.match(input[0].content, /They talked/, 'old items are a summary');
  assert.equal(input.at(-2).content, 'What was the boiler pressure?');
  assert.match(input.at(-1).content, /0\.8 bar/, 'what is recalled follows the newest item');
  const items = await session.getItems();
  assert.equal(items.filter((item) => item.role === 'user').length, turns);
  assert.ok(items.length > input.length && !JSON.stringify(items).includes('0.8 bar'), 'the items are those of the conversation');
  assert.match(daemon.notes(), /Dr\. Aoki/);
  assert.match(daemon.notes(), /about teeth\..*from=tool/, 'a note after the result of another tool says so (F09)');

  await say('We moved to Kobe.');
  await session.clearSession();
  assert.match(daemon.notes(), /Kobe/, 'the end stores what was not stored');
  assert.deepEqual(await session.getItems(), []);
});

test('OpenAI Agents SDK: the filter takes a text, and what it added is not stored when two runs are under way', {skip}, async (t) => {
  const daemon = await Daemon.start(t, {'memory/2026-01-10.md': '# 2026-01-10\n\nThe boiler pressure fell to 0.8 bar.\n'});
  const session = new KiokuSession(daemon.connect(t).session('two'));
  const filtered = [];
  for (const question of ['What was the boiler pressure?', 'What was the pressure?']) filtered.push((await session.filter({modelData: {input: question}})).input);
  assert.deepEqual(filtered.map((items) => items.length), [2, 2]);
  for (const items of filtered) await session.addItems(items);
  assert.deepEqual((await session.getItems()).map((item) => item.content), ['What was the boiler pressure?', 'What was the pressure?']);
});

test('OpenAI Agents SDK: what the end cannot store is not cleared', {skip}, async (t) => {
  const daemon = await Daemon.start(t);
  const session = new KiokuSession(daemon.connect(t).session('cleared'));
  await session.addItems([{type: 'message', role: 'user', content: 'We moved to Kobe.'}]);
  await daemon.stop();
  await assert.rejects(session.clearSession(), /no Kioku service answers/);
  assert.equal((await session.getItems()).length, 1);
  await daemon.run();
  await session.clearSession();
  assert.equal((await session.getItems()).length, 0);
});

test('OpenAI Agents SDK: old results of tools are sent shortened, and stay as they are', {skip}, async (t) => {
  const session = new KiokuSession((await Daemon.start(t)).connect(t).session('pruned', {windowTokens: 15_000}));
  const input = [{type: 'message', role: 'user', content: 'Read it.'}, {type: 'function_call', callId: 'r', name: 'read', arguments: '{}'},
    {type: 'function_call_result', callId: 'r', name: 'read', output: {type: 'text', text: 'x'.repeat(20_000)}},
    ...['I have.', 'I am.', 'It is.'].flatMap((said) => [
      {type: 'message', role: 'assistant', content: [{type: 'output_text', text: said}]}, {type: 'message', role: 'user', content: 'Sure?'}])];
  await earlier(() => session.filter({modelData: {input}}));
  const sent = (await session.filter({modelData: {input}})).input;
  assert.ok(sent[2].output.text.length < 5000);
  assert.equal(input[2].output.text.length, 20_000);
});
