import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import plugin from "../dist/index.js";
import { daemonSettings, pluginSettings } from "../dist/settings.js";
import { skip, startModel, stopDaemons, text } from "./openclaw.mjs";

const script = JSON.parse(fs.readFileSync(new URL("../../testdata/conversation.json", import.meta.url)));

/** Loads the plugin into a host that has only what the plugin uses, over a real Kioku in a home of its own. */
function load(t, { settings = {}, config = {}, kioku = {}, api = {} } = {}) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "kioku-openclaw-"));
  const workspaces = { main: path.join(dir, "main"), work: path.join(dir, "work") };
  for (const folder of Object.values(workspaces)) fs.mkdirSync(path.join(folder, "memory"), { recursive: true });
  const host = { dir, workspaces, hooks: {}, tools: {}, warnings: [] };
  const before = process.env.HOME;
  process.env.HOME = dir;
  t.after(async () => {
    process.env.HOME = before;
    await stopDaemons({ dir });
    fs.rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  plugin.register({
    config,
    pluginConfig: { command: process.env.KIOKU, settings: { "sync.watchDebounceMs": 50, ...settings }, ...kioku },
    logger: { info() {}, warn: (warning) => host.warnings.push(warning) },
    runtime: { agent: { resolveAgentWorkspaceDir: (_, agentId) => workspaces[agentId] } },
    registerTool: (create, { names }) => (host.tools[names[0]] = create),
    registerMemoryCapability: (capability) => (host.capability = capability),
    registerCli() {},
    on: (name, handler) => (host.hooks[name] = handler),
    ...api,
  });
  host.call = async (agentId, name, params, ctx = {}) => (await host.tools[name]({ agentId, sessionId: "s", ...ctx }).execute("call", params)).details;
  return host;
}

// memory_search and memory_get have OpenClaw's names and JSON, and an agent never reaches the memory of another.
test("the tools have the names and the JSON of OpenClaw", { skip, timeout: 300_000 }, async (t) => {
  const host = load(t);
  fs.writeFileSync(path.join(host.workspaces.main, "MEMORY.md"), "# Memory\n\n- The heron is called Otto.\n");
  fs.writeFileSync(path.join(host.workspaces.work, "MEMORY.md"), "# Memory\n\n- The otter is called Heidi.\n");
  const found = await host.call("main", "memory_search", { query: "heron", maxResults: "3" });
  const { path: file, startLine, endLine, source, corpus, citation } = found.results[0];
  assert.deepEqual({ file, startLine, endLine, source, corpus, citation }, {
    file: "MEMORY.md", startLine: 1, endLine: 3, source: "memory", corpus: "memory", citation: "MEMORY.md#L1-L3",
  });
  assert.match(found.results[0].snippet, /Otto[\s\S]*Source: MEMORY\.md#L1-L3$/);
  assert.equal(found.citations, "auto");
  assert.ok(found.results[0].score > 0 && found.mode === "keyword" && found.provider === "none");
  assert.equal((await host.call("main", "memory_search", { query: "heron" }, { sessionKey: "agent:main:discord:group:7" })).results[0].citation, undefined);
  assert.deepEqual(await host.call("main", "memory_get", { path: "MEMORY.md", from: 3, lines: 1 }), {
    status: "ok", path: "MEMORY.md", text: "- The heron is called Otto.\n", from: 3, lines: 1,
  });
  assert.deepEqual(await host.call("main", "memory_get", { path: "memory/none.md" }), { status: "not_found", path: "memory/none.md", text: "" });
  assert.deepEqual(await host.call("main", "memory_get", { path: "../work/MEMORY.md" }), { status: "not_found", path: "../work/MEMORY.md", text: "" });
  assert.deepEqual((await host.call("main", "memory_search", { query: "otter Heidi", minScore: 0.1 })).results, []);
  assert.equal((await host.call("main", "memory_search", { query: "x", corpus: "sessions" })).unavailable, true);
  await assert.rejects(host.call("main", "memory_search", { query: " " }), /query required/);
});

// A note is stored once, in the notes of the day, and the next turn is sent it in the newest message.
test("what is stored is recalled before the next turn", { skip, timeout: 300_000 }, async (t) => {
  const host = load(t);
  const note = { text: "The ferry to Hvar leaves at nine.", category: "fact" };
  assert.equal((await host.call("main", "memory_append", note)).status, "ok");
  await host.call("main", "memory_append", note);
  const daily = fs.readdirSync(path.join(host.workspaces.main, "memory"));
  assert.equal(fs.readFileSync(path.join(host.workspaces.main, "memory", daily[0]), "utf8").split("Hvar").length, 2);
  const ask = (ctx) => host.hooks.before_prompt_build({ prompt: "x", currentUserMessage: "When does the ferry leave?", messages: [] }, { agentId: "main", sessionKey: "agent:main:main", ...ctx });
  let recalled;
  for (let i = 0; i < 200 && !recalled; i++) {
    recalled = await ask({});
    if (!recalled) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.match(recalled.prependContext, /Hvar/);
  assert.equal(await ask({ trigger: "cron" }), undefined);
  assert.equal(await ask({ sessionKey: "agent:main:telegram:group:1" }), undefined);
  assert.equal(await ask({ inputProvenance: { kind: "inter_session" } }), undefined);
  assert.equal(await ask({ toolAuthority: { allows: () => false, assertActive() {} } }), undefined);
  assert.equal(await ask({ agentId: "work" }), undefined);
});

// Settings of memory.search reach the daemon as variables, per agent, and no key is on a command line.
test("OpenClaw's settings are honoured", () => {
  const config = {
    memory: { search: { provider: "openai-compatible", model: "m", fallback: "local", remote: { baseUrl: "http://127.0.0.1:1/v1", apiKey: "k" }, query: { maxResults: 4 }, extraPaths: ["docs"] } },
    agents: { entries: { work: { memory: { search: { provider: "none", query: { minScore: 0.2 }, extraPaths: [{ path: "/srv", pattern: "*.md" }] } } } } },
  };
  const { env, unused } = daemonSettings(config, "main", "/w", pluginSettings({ settings: { "llm.provider": "ollama" } }));
  const globs = { KIOKU_INCLUDE: '["MEMORY.md"]', KIOKU_EXCLUDE: JSON.stringify(["memory/dreaming/**", "memory/.dreams/**"]) };
  assert.deepEqual({ env, unused }, {
    env: {
      KIOKU_PROVIDER: "openai", KIOKU_MODEL: "m", KIOKU_REMOTE_BASE_URL: "http://127.0.0.1:1/v1", KIOKU_REMOTE_API_KEY: "k",
      KIOKU_EXTRA_PATHS: '["/w/docs"]', KIOKU_QUERY_MAX_RESULTS: "4", KIOKU_LLM_PROVIDER: "ollama", ...globs,
    },
    unused: ["memory.search.fallback: Kioku has no second provider; it searches by keywords while the first one does not answer"],
  });
  assert.deepEqual(daemonSettings(config, "work", "/w", pluginSettings()).env, {
    KIOKU_PROVIDER: "none", KIOKU_EXTRA_PATHS: '["/w/docs","/srv/*.md"]', KIOKU_QUERY_MAX_RESULTS: "4", KIOKU_QUERY_MIN_SCORE: "0.2", ...globs,
  });
  assert.match(daemonSettings({ memory: { search: { provider: "bedrock" } } }, "main", "/w", pluginSettings()).unused[0], /bedrock/);
});

// For each command OpenClaw asks the plugin for the names of its commands, and has no runtime then.
test("names of commands are registered without a runtime", (t) => {
  const runtime = new Proxy({}, { get: () => assert.fail("runtime is unavailable") });
  const names = [];
  const registerCli = (_, { descriptors }) => names.push(...descriptors.map((d) => d.name));
  const host = load(t, { config: { plugins: { slots: { memory: "kioku" } } }, api: { registrationMode: "cli-metadata", runtime, registerCli } });
  assert.deepEqual([names, host.warnings], [["memory"], []]);
});

// A new OpenClaw has no workspace before its first run: its memory is empty, says why, and makes no folder. Of a new workspace only the
// memory is indexed, not what OpenClaw puts beside it, and a first note changes nothing of that.
test("a workspace that is not there, and a new one", { skip, timeout: 300_000 }, async (t) => {
  const host = load(t);
  const folder = host.workspaces.main;
  fs.rmSync(folder, { recursive: true });
  const status = async () => (await host.capability.runtime.getMemorySearchManager({ cfg: {}, agentId: "main" })).manager.status();
  const { files, chunks, custom } = await status();
  assert.deepEqual([files, chunks], [0, 0]);
  assert.match(custom.reason, /there is no workspace .*first run/);
  const { results, warning } = await host.call("main", "memory_search", { query: "heron" });
  assert.deepEqual(results, []);
  assert.match(warning, /there is no workspace/);
  assert.equal((await host.call("main", "memory_get", { path: "MEMORY.md" })).status, "not_found");
  assert.equal(await host.hooks.before_prompt_build({ prompt: "heron", messages: [] }, { agentId: "main" }), undefined);
  assert.ok(!fs.existsSync(folder) && !host.warnings.length, host.warnings.join());
  fs.mkdirSync(folder);
  for (const name of ["AGENTS.md", "SOUL.md", "IDENTITY.md", "BOOTSTRAP.md"]) fs.writeFileSync(path.join(folder, name), "# You\n\nYou are a heron with a soul.\n");
  fs.writeFileSync(path.join(folder, "USER.md"), "# User\n\nThe user likes the heron.\n");
  const paths = async () => (await host.call("main", "memory_search", { query: "heron" })).results.map((r) => r.path);
  assert.deepEqual(await paths(), ["USER.md"]);
  await host.call("main", "memory_append", { text: "The heron nests under the pier." });
  let found = [];
  for (let i = 0; i < 100 && found.length < 2; i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    found = await paths();
  }
  assert.deepEqual(found.map((file) => file.split("/")[0]).sort(), ["USER.md", "memory"]);
  assert.ok(!fs.existsSync(path.join(folder, ".kioku.yaml")));
});

// A Kioku that hangs does not hold a compaction. What was said is handed over all the same, and the end of the session comes after it.
test("a compaction does not wait for a Kioku that hangs", { timeout: 120_000 }, async (t) => {
  const asked = [];
  let arrived;
  const service = http.createServer(async (req, res) => {
    let body = "";
    for await (const part of req) body += part;
    asked.push({ answer: () => res.end('{"outcome":"done"}'), messages: JSON.parse(body).messages.map((m) => m.text) });
    arrived();
  });
  const next = () => new Promise((resolve) => (arrived = resolve));
  await new Promise((resolve) => service.listen(0, "127.0.0.1", resolve));
  t.after(() => service.close());
  const host = load(t, { kioku: { address: `http://127.0.0.1:${service.address().port}` } });
  const ctx = { agentId: "main", sessionKey: "agent:main:main", sessionId: "one" };
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const first = next();
  const compaction = host.hooks.before_compaction({ messages: [{ role: "user", content: "The heron is called Otto." }] }, ctx);
  await first;
  t.mock.timers.tick(10_000);
  await compaction;
  await host.hooks.agent_end({ messages: [{ role: "user", content: "The otter is called Heidi." }], success: true }, ctx);
  const end = host.hooks.session_end({ sessionId: "one", reason: "new" }, ctx);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(asked.map((a) => a.messages), [["The heron is called Otto."]]);
  const second = next();
  asked[0].answer();
  await second;
  asked[1].answer();
  await end;
  assert.deepEqual([asked[1].messages, host.warnings], [["The otter is called Heidi."], []]);
});

// More sessions than are remembered: the one that is forgotten is told in the log.
test("a session that is forgotten is told", async (t) => {
  const host = load(t);
  for (let i = 1; i <= 65; i++) await host.hooks.agent_end({ messages: [{ role: "user", content: "Hello." }], success: true }, { agentId: "main", sessionId: `s${i}` });
  assert.equal(host.warnings.length, 1);
  assert.match(host.warnings[0], /more than 64 sessions are open.* s1 /);
});

// An agent whose memory is off has no tools; without the program, the answer says what to do, and turns go on.
test("a memory that is off, and a program that is missing", { timeout: 120_000 }, async (t) => {
  const off = load(t, { config: { memory: { search: { enabled: false } } } });
  assert.equal(off.tools.memory_search({ agentId: "main" }), null);
  const host = load(t, { kioku: { command: "/nowhere/kioku" }, config: { plugins: { slots: { memory: "kioku" } } } });
  assert.match((await host.call("main", "memory_search", { query: "heron" })).error, /is not installed.*plugins\.entries\.kioku\.config\.command/);
  assert.equal(await host.hooks.before_prompt_build({ prompt: "heron", messages: [] }, { agentId: "main" }), undefined);
  assert.deepEqual(host.warnings.map((w) => /allowConversationAccess|memory-core|is not installed/.exec(w)?.[0]), ["allowConversationAccess", "memory-core", "is not installed"]);
});

// The plan of OpenClaw's own flush honours compaction.memoryFlush, and names the file of the user's day.
test("OpenClaw's flush before a compaction stays", async (t) => {
  const plan = load(t).capability.flushPlanResolver;
  const at = { nowMs: Date.UTC(2026, 0, 31, 20) };
  const tokyo = { agents: { defaults: { userTimezone: "Asia/Tokyo", compaction: { memoryFlush: { softThresholdTokens: 100, forceFlushTranscriptBytes: "1mb", model: "a/b" } } } } };
  const { prompt, systemPrompt, ...rest } = plan({ cfg: tokyo, contextWindowTokens: 200_000, ...at });
  assert.deepEqual(rest, { softThresholdTokens: 100, forceFlushTranscriptBytes: 1 << 20, reserveTokensFloor: 20_000, model: "a/b", relativePath: "memory/2026-02-01.md" });
  assert.ok(prompt.includes("memory/2026-02-01.md") && prompt.includes("NO_REPLY") && systemPrompt.includes("memory/2026-02-01.md"));
  assert.equal(plan({ cfg: { agents: { defaults: { compaction: { memoryFlush: { enabled: false } } } } } }), null);
  assert.deepEqual([plan({ contextWindowTokens: 16_000 }).reserveTokensFloor, plan({ contextWindowTokens: 10_000 }).softThresholdTokens], [4000, 3750]);
});

// What OpenClaw's own flush has stored is not handed over again; everything else is, once.
test("a fact is stored once", { skip, timeout: 300_000 }, async (t) => {
  const asked = [];
  const model = await startModel(({ messages }) => (asked.push(JSON.stringify(messages)), "NO_REPLY"));
  t.after(() => model.close());
  const host = load(t, { settings: { "llm.provider": "openai", "llm.baseUrl": model.url, "llm.model": "scripted", "llm.apiKey": "test" } });
  const ctx = { agentId: "main", sessionKey: "agent:main:main", sessionId: "one" };
  const messages = [{ role: "user", timestamp: 1, content: "The heron is called Otto." }, { role: "assistant", timestamp: 2, content: "Yes." }];
  await host.hooks.agent_end({ messages, success: true }, ctx);
  await host.hooks.agent_end({ messages: [...messages, { role: "assistant", timestamp: 4, content: "NO_REPLY" }], success: true }, { ...ctx, sessionId: "fork", trigger: "memory" });
  messages.push({ role: "user", timestamp: 5, content: "The otter is called Heidi." }, { role: "assistant", timestamp: 6, content: "Yes." });
  await host.hooks.agent_end({ messages, success: true }, ctx);
  await host.hooks.session_end({ sessionId: "one", reason: "new" }, ctx);
  assert.ok(asked.some((text) => text.includes("Heidi")) && !asked.some((text) => text.includes("Otto")), asked.join("\n"));
});

// The conversation of 200 turns through the hooks of the plugin: two kills of the daemon, two compactions, an early end of the session,
// and a new session that is sent each of the 24 facts.
test("a session of 200 turns that ends early: 24 of 24 facts", { skip, timeout: 600_000 }, async (t) => {
  const model = await startModel(({ messages }) => {
    const said = messages.filter((m) => m.role === "user").map((m) => text(m.content)).join("\n");
    const facts = script.facts.filter((f) => said.includes(f.say));
    return messages.at(-1).role === "tool" || !facts.length ? "NO_REPLY" : { call: facts.map((f) => ({ name: "memory_append", input: { text: f.say } })) };
  });
  t.after(() => model.close());
  const host = load(t, { settings: { "llm.provider": "openai", "llm.baseUrl": model.url, "llm.model": "scripted", "llm.apiKey": "test" } });
  const ctx = { agentId: "main", sessionKey: "agent:main:main", sessionId: "one" };
  const messages = [];
  for (let turn = 1; turn <= script.turns; turn++) {
    const said = script.facts.find((f) => f.turn === turn)?.say ?? `${turn}. ${script.fillers[turn % script.fillers.length]}`;
    const recalled = await host.hooks.before_prompt_build({ prompt: said, currentUserMessage: said, messages }, ctx);
    messages.push({ role: "user", timestamp: turn, content: [recalled?.prependContext, said].filter(Boolean).join("\n\n") });
    messages.push({ role: "assistant", timestamp: turn, content: [{ type: "text", text: "Yes." }, { type: "toolCall", name: "read", arguments: {} }] });
    await host.hooks.agent_end({ messages, success: true }, ctx);
    if (script.restarts_after.includes(turn)) await stopDaemons(host);
    if (turn % 80) continue;
    await host.hooks.before_compaction({ messages }, ctx);
    messages.splice(0, messages.length - 10, { role: "compactionSummary", content: "They spoke about many things." });
  }
  await host.hooks.session_end({ sessionId: "one", sessionKey: ctx.sessionKey, reason: "new" }, ctx);
  assert.deepEqual(host.warnings.filter((w) => /was not flushed/.test(w)), []);
  const missed = [];
  for (const { ask, answer } of script.facts) {
    const sent = await host.hooks.before_prompt_build({ prompt: ask, currentUserMessage: ask, messages: [] }, { ...ctx, sessionId: "two" });
    if (!sent?.prependContext.includes(answer)) missed.push(ask);
  }
  assert.deepEqual(missed, []);
});
