import assert from 'node:assert/strict';
import {test} from 'node:test';
import {Daemon, earlier, indexed} from '../daemon.js';

const ai = await import('ai').catch(() => undefined);
const skip = ai ? false : 'the package ai is not installed';
const {MockLanguageModelV4} = ai ? await import('ai/test') : {};
const {askWith, memoryTools, recallMiddleware, remember, toMessages} = ai ? await import('@kioku/client/ai') : {};

const boiler = {'memory/2026-01-10.md': '# 2026-01-10\n\nThe boiler pressure fell to 0.8 bar.\n', 'SOUL.md': 'Be brief.\n'};

/** A model that answers as the functions of a list say, one for each request; the last one answers all further ones. */
function scripted(...answers) {
  const requests = [];
  const model = new MockLanguageModelV4({doGenerate: async (request) => {
    requests.push(request);
    const content = await answers[Math.min(requests.length, answers.length) - 1](request);
    const usage = {inputTokens: {total: 1}, outputTokens: {total: 1}};
    return {content, finishReason: {unified: content.some((c) => c.type === 'tool-call') ? 'tool-calls' : 'stop'}, usage, warnings: []};
  }});
  return {model, requests};
}
const text = (value) => () => [{type: 'text', text: value}];
const call = (toolName, input) => () => [{type: 'tool-call', toolCallId: `c-${toolName}`, toolName, input: JSON.stringify(input)}];

test('Vercel AI SDK: the model stores and finds notes with the memory tools', {skip}, async (t) => {
  const daemon = await Daemon.start(t);
  const kioku = daemon.connect(t);
  const {model, requests} = scripted(call('memory_append', {text: 'The cellar key is under the third stone.'}),
    indexed(kioku, call('memory_search', {query: 'cellar key'})), call('memory_search', {query: 'x', colour: 'red'}), text('Under the third stone.'));
  const {text: answer} = await ai.generateText({model, prompt: 'Where is the key?', tools: await memoryTools(kioku), stopWhen: ai.stepCountIs(5)});
  assert.equal(answer, 'Under the third stone.');
  assert.match(daemon.notes(), /third stone\..*from=agent/s);
  const results = requests.at(-1).prompt.filter((m) => m.role === 'tool').map((m) => m.content[0].output);
  assert.match(results[1].value, /third stone/);
  assert.deepEqual([results[2].type, /colour/.test(results[2].value)], ['error-text', true]);
  assert.deepEqual(requests[0].tools.find((tool) => tool.name === 'memory_search').inputSchema.required, ['query']);
});

test('Vercel AI SDK: a note after the result of another tool says so (F09)', {skip}, async (t) => {
  const daemon = await Daemon.start(t);
  const {model} = scripted(call('memory_append', {text: 'The user asks about tea.'}), call('read_page', {}),
    call('memory_append', {text: 'The page says that tea is bad.'}), text('It is.'));
  const page = ai.tool({description: 'Reads a page.', inputSchema: ai.jsonSchema({type: 'object'}), execute: async () => 'Tea is bad.'});
  await ai.generateText({model, prompt: 'Read the page.', tools: {read_page: page, ...await memoryTools(daemon.connect(t))}, stopWhen: ai.stepCountIs(5)});
  assert.match(daemon.notes(), /about tea\..*from=agent.*is bad\..*from=tool/s);
});

test('Vercel AI SDK: middleware adds what memory has about the newest message, also when memory is away', {skip}, async (t) => {
  const daemon = await Daemon.start(t, boiler);
  const {model, requests} = scripted(text('0.8 bar.'));
  const errors = [];
  const middleware = recallMiddleware(daemon.connect(t), {onError: (err) => errors.push(err)});
  const remembering = ai.wrapLanguageModel({model, middleware});
  await ai.generateText({model: remembering, messages: [
    {role: 'user', content: 'Hello'}, {role: 'assistant', content: 'Hello.'}, {role: 'user', content: 'What was the boiler pressure?'}]});
  const [, , newest] = requests[0].prompt;
  assert.deepEqual(newest.content.map((p) => /0\.8 bar/.test(p.text)), [false, true]);
  await daemon.stop();
  await ai.generateText({model: remembering, prompt: 'And now?'});
  assert.equal(requests[1].prompt[0].content.length, 1);
  assert.match(errors[0].message, /no Kioku service answers/);
});

test('Vercel AI SDK: prepareStep makes a conversation that loses nothing, with its own model', {skip}, async (t) => {
  const daemon = await Daemon.start(t, boiler);
  const kioku = daemon.connect(t);
  const fact = 'My dentist is Dr. Aoki.';
  const noteMaker = new MockLanguageModelV4({doGenerate: async ({prompt, tools = []}) => {
    const shown = JSON.stringify(prompt);
    const last = prompt.at(-1);
    const content = tools.length === 0 ? [{type: 'text', text: `They talked. ${last.content[0].text.slice(-1500)}`}]
      : last.role === 'tool' || !shown.includes(fact) ? [{type: 'text', text: 'NO_REPLY'}]
        : [{type: 'tool-call', toolCallId: 'n1', toolName: tools[0].name, input: JSON.stringify({text: fact, category: 'fact'})}];
    return {content, finishReason: {unified: 'stop'}, usage: {inputTokens: {total: 1}, outputTokens: {total: 1}}, warnings: []};
  }});
  const {model, requests} = scripted(text('I see.'));
  const session = kioku.session('ai', {ask: askWith(noteMaker), windowTokens: 6000, onError: (err) => { throw err; }});
  const messages = [];
  const say = async (content) => {
    messages.push({role: 'user', content});
    const result = await ai.generateText({model, instructions: 'Answer in English.', messages, prepareStep: remember(session)});
    messages.push(...result.response.messages);
  };
  await say(fact);
  for (let i = 0; i < 40 && !JSON.stringify(requests.at(-1).prompt).includes('They talked.'); i++) await say(`${i} ${'lorem ipsum '.repeat(80)}`);
  await say('What was the boiler pressure?');
  const {prompt} = requests.at(-1);
  assert.deepEqual(prompt.slice(0, 2).map((m) => m.role), ['system', 'system']);
  assert.equal(prompt[0].content, 'Answer in English.');
  assert.match(prompt[1].content, /Be brief\./);
  assert.match(prompt[2].content[0].text, /They talked\./, 'old messages are a summary');
  assert.match(prompt.at(-1).content.at(-1).text, /0\.8 bar/, 'the newest message has what is recalled');
  assert.equal(prompt.at(-1).content.length, 2);
  assert.match(daemon.notes(), /Dr\. Aoki/);
  assert.ok(!JSON.stringify(messages).includes('0.8 bar'), 'the messages of the caller stay as they are');
  assert.equal((await session.end(toMessages(messages))).outcome, 'done');
});

test('Vercel AI SDK: old results of tools are sent shortened, and stay as they are', {skip}, async (t) => {
  const prepare = remember((await Daemon.start(t)).connect(t).session('pruned', {windowTokens: 15_000}));
  const value = 'x'.repeat(20_000);
  const messages = [{role: 'user', content: 'Read it.'}, {role: 'assistant', content: [{type: 'tool-call', toolCallId: 'r', toolName: 'read', input: {}}]},
    {role: 'tool', content: [{type: 'tool-result', toolCallId: 'r', toolName: 'read', output: {type: 'text', value}}]},
    ...['I have.', 'I am.', 'It is.'].flatMap((content) => [{role: 'assistant', content}, {role: 'user', content: 'Sure?'}])];
  await earlier(() => prepare({stepNumber: 0, messages}));
  const sent = await prepare({stepNumber: 0, messages});
  assert.ok(sent.messages[2].content[0].output.value.length < 5000);
  assert.equal(messages[2].content[0].output.value, value);
});
