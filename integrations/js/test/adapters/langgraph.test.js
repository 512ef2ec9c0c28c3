import assert from 'node:assert/strict';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {Daemon, earlier, indexed} from '../daemon.js';

const graph = await import('@langchain/langgraph').catch(() => undefined);
const skip = graph ? false : 'the package @langchain/langgraph is not installed';
const {createReactAgent} = graph ? await import('@langchain/langgraph/prebuilt') : {};
const {BaseChatModel} = graph ? await import('@langchain/core/language_models/chat_models') : {BaseChatModel: Object};
const {AIMessage, HumanMessage, ToolMessage} = graph ? await import('@langchain/core/messages') : {};
const {askWith, KiokuStore, memoryTools, preModelHook, toMessages} = graph ? await import('@kioku/client/langgraph') : {};

/** A chat model that answers as a function of the messages and the tools says. */
class Scripted extends BaseChatModel {
  requests = [];
  tools = [];

  constructor(answer) {
    super({});
    this.answer = answer;
  }

  _llmType() { return 'scripted'; }

  bindTools(tools) {
    const bound = new Scripted(this.answer);
    return Object.assign(bound, {tools, requests: this.requests});
  }

  async _generate(messages) {
    this.requests.push(messages);
    const message = new AIMessage(await this.answer(messages, this.tools, this.requests.length));
    return {generations: [{text: message.text, message}]};
  }
}
let made = 0;
const call = (name, args) => ({content: '', tool_calls: [{id: `c${made++}`, name, args, type: 'tool_call'}]});

test('LangGraph: the model stores and finds notes with the memory tools', {skip}, async (t) => {
  const daemon = await Daemon.start(t);
  const kioku = daemon.connect(t);
  const llm = new Scripted(indexed(kioku, (messages, tools, n) => [
    call('memory_append', {text: 'The cellar key is under the third stone.'}), call('memory_search', {query: 'cellar key'}),
    call('memory_search', {query: 'x', colour: 'red'}), 'Under the third stone.'][n - 1]));
  const agent = createReactAgent({llm, tools: await memoryTools(kioku)});
  const {messages} = await agent.invoke({messages: [new HumanMessage('Where is the key?')]});
  assert.equal(messages.at(-1).text, 'Under the third stone.');
  assert.match(daemon.notes(), /third stone\..*from=agent/s);
  const results = messages.filter((m) => m.getType() === 'tool');
  assert.match(results[1].text, /third stone/);
  assert.deepEqual([results[2].status, /colour/.test(results[2].text)], ['error', true]);
});

test('LangGraph: a note after the result of another tool says so (F09)', {skip}, async (t) => {
  const daemon = await Daemon.start(t);
  const {tool} = await import('@langchain/core/tools');
  const page = tool(async () => 'Tea is bad.', {name: 'read_page', description: 'Reads a page.', schema: {type: 'object', properties: {}}});
  const llm = new Scripted((messages, tools, n) => [
    call('memory_append', {text: 'The user asks about tea.'}), call('read_page', {}), call('memory_append', {text: 'The page says that tea is bad.'}), 'It is.'][n - 1]);
  await createReactAgent({llm, tools: [page, ...await memoryTools(daemon.connect(t))]}).invoke({messages: [new HumanMessage('Read the page.')]});
  assert.match(daemon.notes(), /about tea\..*from=agent.*is bad\..*from=tool/s);
});

test('LangGraph: the pre-model hook needs the name of a thread, and keeps the sessions of the latest', {skip}, async (t) => {
  const daemon = await Daemon.start(t);
  const hook = preModelHook(daemon.connect(t), {onError: (err) => { throw err; }});
  await assert.rejects(hook({messages: [new HumanMessage('x')]}, {configurable: {}}), /thread_id/);
});

test('LangGraph: the pre-model hook makes each thread a conversation that loses nothing', {skip}, async (t) => {
  const daemon = await Daemon.start(t, {'memory/2026-01-10.md': '# 2026-01-10\n\nThe boiler pressure fell to 0.8 bar.\n', 'SOUL.md': 'Be brief.\n'});
  const kioku = daemon.connect(t);
  const fact = 'My dentist is Dr. Aoki.';
  const notes = new Scripted((messages, tools) => {
    if (tools.length === 0) return `They talked. ${messages.at(-1).text.slice(-1500)}`;
    const shown = messages.some((m) => m.text.includes(fact));
    return messages.at(-1).getType() === 'tool' || !shown ? 'NO_REPLY' : call('memory_append', {text: fact, category: 'fact'});
  });
  const llm = new Scripted(() => 'I see.');
  const options = {ask: askWith(notes), windowTokens: 6000, onError: (err) => { throw err; }};
  const agent = createReactAgent({llm, tools: [], preModelHook: preModelHook(kioku, options), checkpointer: new graph.MemorySaver()});
  const config = {configurable: {thread_id: 'thread'}};
  const say = (text) => agent.invoke({messages: [new HumanMessage(text)]}, config);
  await say(fact);
  for (let i = 0; i < 40 && !llm.requests.at(-1)[1].text.includes('They talked.'); i++) await say(`${i} ${'lorem ipsum '.repeat(80)}`);
  const state = await say('What was the boiler pressure?');
  const sent = llm.requests.at(-1);
  assert.match(sent[0].text, /Be brief\./);
  assert.match(sent[1].text, /They talked\./, 'old messages are a summary');
  assert.match(sent.at(-1).content.at(-1).text, /0\.8 bar/, 'the newest message has what is recalled');
  assert.ok(state.messages.length > sent.length && !JSON.stringify(state.messages).includes('0.8 bar'), 'the state of the graph stays as it is');
  assert.match(daemon.notes(), /Dr\. Aoki/);
  assert.equal((await kioku.session('thread', options).end(toMessages(state.messages))).outcome, 'done');
});

test('LangGraph: items of the store are notes that searches and recall find', {skip}, async (t) => {
  const daemon = await Daemon.start(t);
  const kioku = daemon.connect(t);
  const store = new KiokuStore(kioku);
  await store.put(['users', 'mia'], 'tea', {text: 'Mia drinks green tea in the morning.', cups: 2});
  await store.put(['users', 'mia'], 'pet', {text: 'The cat is called Mikan.', cups: 0});
  await store.put(['users', 'ゆき', 'x/y'], 'a/b. %', {text: '祖母の誕生日は六月二十一日です。'});
  const note = readFileSync(join(daemon.workspace, 'memory/store/users/mia/tea.md'), 'utf8');
  assert.match(note, /^---\nnamespace: \["users","mia"\]\nkey: "tea"\ncreated: ".*Z"\nupdated: ".*Z"\n---\n```json\n{\n  "text": "Mia drinks green tea in the morning\."/);

  const tea = await store.get(['users', 'mia'], 'tea');
  assert.deepEqual([tea.value, tea.key, tea.namespace], [{text: 'Mia drinks green tea in the morning.', cups: 2}, 'tea', ['users', 'mia']]);
  assert.deepEqual((await store.get(['users', 'ゆき', 'x/y'], 'a/b. %')).value, {text: '祖母の誕生日は六月二十一日です。'});
  assert.equal(await store.get(['users', 'mia'], 'none'), null);

  const [first] = await store.search(['users'], {query: 'Who drinks tea?'});
  assert.deepEqual([first.key, first.score > 0], ['tea', true]);
  assert.equal((await store.search(['users', 'mia'], {query: '祖母の誕生日'})).filter((i) => i.key === 'a/b. %').length, 0);
  assert.equal((await store.search(['users'], {query: '祖母の誕生日はいつですか'}))[0].key, 'a/b. %');
  assert.deepEqual((await store.search(['users'], {filter: {cups: {$gte: 1}}})).map((i) => i.key), ['tea']);
  assert.deepEqual((await store.search(['users', 'mia'], {limit: 1, offset: 1})).map((i) => i.key), ['tea'], 'the latest first');
  assert.match((await kioku.recall('What does Mia drink?')).block, /green tea/);

  await store.put(['users', 'mia'], 'tea', {text: 'Mia drinks coffee now.'});
  const again = await store.get(['users', 'mia'], 'tea');
  assert.deepEqual([again.createdAt, again.updatedAt > tea.updatedAt], [tea.createdAt, true]);
  assert.deepEqual((await store.search(['users'], {query: 'green tea'})).filter((i) => i.value.text.includes('green')), []);

  assert.deepEqual(await store.listNamespaces({}), [['users', 'mia'], ['users', 'ゆき', 'x/y']]);
  assert.deepEqual(await store.listNamespaces({prefix: ['users', '*'], maxDepth: 1}), [['users']]);
  assert.deepEqual(await store.listNamespaces({suffix: ['mia']}), [['users', 'mia']]);
  await store.put(['users', 'mia'], 'pin', {text: 'The pin is written nowhere else.'}, false);
  assert.equal((await store.get(['users', 'mia'], 'pin')).value.text, 'The pin is written nowhere else.');
  assert.deepEqual((await store.search(['users'], {query: 'pin written nowhere'})).filter((i) => i.key === 'pin'), [], 'it is not indexed');
  writeFileSync(join(daemon.workspace, 'memory/store/users/mia/pet.md'), 'The cat has moved out.\n');
  await assert.rejects(store.put(['users', 'mia'], 'pet', {text: 'x'}), /somebody has changed it/);
  await store.delete(['users', 'mia'], 'tea');
  assert.equal(await store.get(['users', 'mia'], 'tea'), null);
  assert.deepEqual((await store.search(['users'], {query: 'coffee'})).filter((i) => i.key === 'tea'), []);
});

test('LangGraph: writes of one item at once, namespaces with slashes and filters by objects are kept apart', {skip}, async (t) => {
  const daemon = await Daemon.start(t);
  const stores = [0, 1].map(() => new KiokuStore(daemon.connect(t)));
  const [store] = stores;
  await Promise.all(stores.flatMap((s) => Array.from({length: 20}, (_, i) => s.put(['p'], 'same', {i}))));
  assert.equal((await store.get(['p'], 'same')).value.i, 19);
  assert.deepEqual(readdirSync(join(daemon.workspace, 'memory/store/p')), ['same.md']);
  await store.put(['a/b'], 'k', {where: {x: 1, y: [2]}});
  await store.put(['a', 'b'], 'k', {where: {x: 2}});
  assert.deepEqual(await store.listNamespaces({prefix: ['*']}), [['a', 'b'], ['a/b'], ['p']]);
  const found = await store.search([], {filter: {where: {y: [2], x: 1}}});
  assert.deepEqual(found.map((i) => i.namespace), [['a/b']]);
  await daemon.stop();
  const late = new KiokuStore(daemon.connect(t));
  await assert.rejects(late.get(['p'], 'same'), /no Kioku service answers/);
  await daemon.run();
  assert.equal((await late.get(['p'], 'same')).value.i, 19);
});

test('LangGraph: two processes share a store, and one on another machine is told why it has none', {skip}, async (t) => {
  const daemon = await Daemon.start(t);
  await new KiokuStore(daemon.connect(t)).put(['a'], 'k', {n: 1});
  assert.deepEqual((await new KiokuStore(daemon.connect(t)).get(['a'], 'k')).value, {n: 1});
  const elsewhere = {status: async () => ({workspace: '/nowhere/at/all'})};
  await assert.rejects(new KiokuStore(elsewhere).get(['a'], 'k'), /run it on the machine of the service/);
});

test('LangGraph: old results of tools are sent shortened, and stay as they are', {skip}, async (t) => {
  const hook = preModelHook((await Daemon.start(t)).connect(t), {windowTokens: 15_000});
  const messages = [new HumanMessage('Read it.'), new AIMessage(call('read', {})), new ToolMessage({content: 'x'.repeat(20_000), tool_call_id: `c${made - 1}`, name: 'read'}),
    ...['I have.', 'I am.', 'It is.'].flatMap((text) => [new AIMessage(text), new HumanMessage('Sure?')])];
  const config = {configurable: {thread_id: 'pruned'}};
  await earlier(() => hook({messages}, config));
  const {llmInputMessages} = await hook({messages}, config);
  const sent = llmInputMessages.find((m) => m.getType() === 'tool');
  assert.deepEqual([sent.text.length < 5000, sent.tool_call_id, sent.name], [true, messages[2].tool_call_id, 'read']);
  assert.equal(messages[2].text.length, 20_000);
});
