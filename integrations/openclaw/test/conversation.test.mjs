import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { makeHome, skip, startGateway, startModel, stopDaemons, text } from "./openclaw.mjs";

const script = JSON.parse(fs.readFileSync(new URL("../../testdata/conversation.json", import.meta.url)));

/** Returns the facts that a user has said in the messages of a request. */
function shown(messages) {
  const said = messages.filter((m) => m.role === "user").map((m) => text(m.content)).join("\n");
  return script.facts.map((f) => f.say).filter((say) => said.includes(say));
}

/**
 * A model that obeys: in OpenClaw's flush it writes, and in Kioku's it appends, each fact that a user's message shows; it summarizes
 * without any fact.
 */
function answers(stored) {
  return ({ messages, tools = [] }) => {
    const last = messages.at(-1);
    const names = tools.map((t) => t.function.name);
    const asked = text(messages.findLast((m) => m.role === "user")?.content);
    if (last.role === "tool") return "NO_REPLY";
    const flush = /memory\/\d{4}-\d\d-\d\d\.md/.exec(asked);
    if (/Pre-compaction memory flush/.test(asked) && flush) {
      const facts = shown(messages);
      facts.forEach((f) => stored.add(f));
      if (!facts.length) return "NO_REPLY";
      return { call: { name: "write", input: { path: flush[0], content: facts.map((f) => `- ${f}\n`).join("") } } };
    }
    if (names.includes("memory_append") && names.length === 1) {
      const facts = shown(messages);
      facts.forEach((f) => stored.add(f));
      return facts.length ? { call: facts.map((f) => ({ name: "memory_append", input: { text: f } })) } : "NO_REPLY";
    }
    return names.length ? "Yes." : "They spoke about many things.";
  };
}

const long = skip ?? (process.env.KIOKU_LONG ? undefined : "it takes some minutes; set KIOKU_LONG=1");

// A conversation of 200 turns through a gateway with the plugin, with 24 facts in three languages, two restarts of gateway and daemon by
// SIGKILL, and a session that ends early: a new session is sent each of the facts.
test("a conversation of 200 turns, 24 of 24 facts", { skip: long, timeout: 900_000 }, async (t) => {
  const stored = new Set();
  const model = await startModel(answers(stored));
  t.after(() => model.close());
  const settings = { "llm.provider": "openai", "llm.baseUrl": model.url, "llm.model": "scripted", "llm.apiKey": "test", "sync.watchDebounceMs": 100 };
  const home = makeHome(t, model.url, { window: 16_000, kioku: { settings } });
  let gateway = await startGateway(t, home);
  const started = Date.now();
  for (let turn = 1; turn <= script.turns; turn++) {
    const fact = script.facts.find((f) => f.turn === turn);
    await gateway.say("main", fact?.say ?? `${turn}. ${script.fillers[turn % script.fillers.length]}`);
    if (script.restarts_after.includes(turn)) {
      await gateway.stop("SIGKILL");
      await stopDaemons(home);
      gateway = await startGateway(t, home);
    }
  }
  await gateway.reset("agent:main:main");
  t.diagnostic(`${script.turns} turns took ${((Date.now() - started) / 1000).toFixed(0)} s; flushes stored ${stored.size} facts`);
  const missed = [];
  for (const fact of script.facts) {
    await gateway.say(`asking-${fact.turn}`, fact.ask);
    const sent = model.requests.findLast((r) => r.messages.some((m) => m.role === "user" && text(m.content).includes(fact.ask)));
    const recalled = text(sent.messages.findLast((m) => m.role === "user" && text(m.content).includes(fact.ask)).content);
    if (!recalled.includes(fact.answer)) missed.push({ ...fact, recalled });
  }
  await gateway.stop();
  const folder = path.join(home.workspace, "memory");
  const notes = fs.readdirSync(folder).map((file) => fs.readFileSync(path.join(folder, file), "utf8")).join("\n");
  for (const { ask, say, recalled } of missed) t.diagnostic(`${ask} ${notes.includes(say) ? "is in the notes" : "was lost"}: ${recalled}`);
  if (missed.length) t.diagnostic(`${notes}\n${gateway.logged()}`);
  assert.deepEqual(missed.map((f) => f.ask), []);
});
