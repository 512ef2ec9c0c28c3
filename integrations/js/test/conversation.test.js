import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {Daemon} from './daemon.js';
import {ScriptedModel} from './scripted.js';

const script = JSON.parse(readFileSync(new URL('../../testdata/conversation.json', import.meta.url), 'utf8'));

/** Returns what the user says in a turn. */
function saidIn(turn) {
  const fact = script.facts.find((f) => f.turn === turn);
  return fact ? fact.say : `${turn}. ${script.fillers[turn % script.fillers.length]}`;
}

test('a 200-turn conversation with 24 planted facts in three languages, two restarts and an early end of session recalls 24 of 24', async (t) => {
  const daemon = await Daemon.start(t);
  const client = daemon.connect(t);
  const model = new ScriptedModel(script.facts.map((f) => f.say));
  const options = {ask: model.ask, windowTokens: 8000, onError: (err) => { throw err; }};
  let session = client.session('talk', options);
  const messages = [];
  let compacted = 0;
  let keep = 0;
  for (let turn = 1; turn <= script.turns; turn++) {
    messages.push({role: 'user', text: saidIn(turn)});
    const prepared = await session.before(messages);
    if (prepared.keep !== keep) compacted++;
    keep = prepared.keep;
    assert.equal(prepared.messages.length, messages.length - keep + (prepared.summary ? 1 : 0));
    assert.equal(prepared.messages.at(-1).text, messages.at(-1).text);
    if (prepared.summary) assert.equal(prepared.messages[0].text, prepared.summary.text);
    messages.push({role: 'assistant', text: `That was turn ${turn}. Let us go on.`});
    if (!script.restarts_after.includes(turn)) continue;
    await daemon.stop(turn === script.restarts_after[0] ? 'SIGTERM' : 'SIGKILL');
    await daemon.run();
    session = client.session('talk', options); // the agent was restarted too: it has its messages and nothing else
  }
  assert.ok(compacted >= 3, `${compacted} compactions`);
  const ended = await session.end(messages);
  assert.deepEqual([ended.outcome, ended.uncoveredCount], ['done', 0]);
  await client.sync();

  const recalled = [];
  for (const {ask, answer} of script.facts) {
    const {system, turnBlock} = await client.session(`later ${recalled.length}`).before([{role: 'user', text: ask}]);
    recalled.push((system + turnBlock).includes(answer) ? answer : `NOT ${answer}`);
  }
  assert.deepEqual(recalled, script.facts.map((f) => f.answer));
  t.diagnostic(`${recalled.length} of ${script.facts.length} recalled, ${compacted} compactions`);
});
