import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { env, kioku, makeHome, openclaw, skip, startModel, text } from "./openclaw.mjs";

// The package of npm pack is installed by OpenClaw and gets the memory slot; what one run of an agent stores, the next is sent.
test("installed by OpenClaw, recalled in the next run", { skip, timeout: 900_000 }, async (t) => {
  const model = await startModel(({ messages, tools }) => {
    const asked = text(messages.findLast((m) => m.role === "user" && text(m.content).includes("eider"))?.content);
    if (messages.at(-1).role === "tool" || !asked.includes("Remember")) return "Yes.";
    const note = { text: "The eider nests under the old pier." };
    const direct = tools.some((tool) => tool.function.name === "memory_append"); // else OpenClaw has put it behind tool_call
    return { call: direct ? { name: "memory_append", input: note } : { name: "tool_call", input: { id: "memory_append", args: note } } };
  });
  t.after(() => model.close());
  const home = makeHome(t, model.url, { slot: false });
  const packed = execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", home.dir], {
    cwd: fileURLToPath(new URL("..", import.meta.url)), encoding: "utf8", env: { ...process.env, npm_config_loglevel: "error" },
  });
  await openclaw(home, "plugins", "install", path.join(home.dir, packed.trim().split("\n").at(-1)), "--force", "--accept-capabilities");
  const config = JSON.parse(fs.readFileSync(home.config, "utf8"));
  assert.equal(config.plugins.slots.memory, "kioku");
  config.plugins.allow = ["kioku"];
  config.plugins.entries = { kioku: { enabled: true, hooks: { allowConversationAccess: true }, config: { command: process.env.KIOKU } }, "memory-core": { enabled: false } };
  fs.writeFileSync(home.config, JSON.stringify(config));
  const run = (message, session) => openclaw(home, "agent", "--local", "--agent", "main", "--session-id", session, "-m", message, "--json");
  await run("Remember where the eider nests.", "one");
  const daily = fs.readdirSync(path.join(home.workspace, "memory")).map((f) => fs.readFileSync(path.join(home.workspace, "memory", f), "utf8"));
  assert.match(daily.join(""), /old pier/, JSON.stringify(model.requests.map((r) => [r.tools?.map((tool) => tool.function.name), r.messages.at(-1)])).slice(0, 3000));
  await run("Where does the eider nest?", "two");
  const sent = model.requests.at(-1);
  assert.match(text(sent.messages.findLast((m) => m.role === "user" && text(m.content).includes("eider")).content), /recalled-memories[\s\S]*old pier/);
  assert.match(text(sent.messages[0].content), /## Memory Recall\nMessages may begin with memories/);
});

// openclaw memory status of a new OpenClaw, which has no workspace yet, answers, and no command complains about the plugin.
test("the first command of a new OpenClaw", { skip, timeout: 600_000 }, async (t) => {
  const home = makeHome(t, "http://127.0.0.1:9/v1");
  fs.rmSync(home.workspace, { recursive: true });
  const { stdout, stderr } = await promisify(execFile)("openclaw", ["memory", "status"], { env: env(home), timeout: 300_000 });
  assert.match(stdout, /Memory of main \(Kioku\): .*\nIndex: 0 files, 0 chunks\n.*there is no workspace/);
  assert.doesNotMatch(stdout + stderr, /failed during register|unavailable/);
});

// kioku config openclaw takes over the settings and workspaces of the real OpenClaw, and leaves OpenClaw's files as they are.
test("the settings of the real OpenClaw are taken over", { skip, timeout: 600_000 }, async (t) => {
  const model = await startModel(() => "Yes.");
  t.after(() => model.close());
  const search = { provider: "openai-compatible", model: "toy-8", remote: { baseUrl: model.url, apiKey: "test" }, query: { maxResults: 4 } };
  const home = makeHome(t, model.url, { slot: false, config: { memory: { search } } });
  fs.writeFileSync(path.join(home.workspace, "memory", "2026-01-02.md"), "The ferry leaves at nine.\n");
  await openclaw(home, "memory", "index", "--force", "--agent", "main");
  const folder = path.join(home.dir, ".openclaw");
  const before = snapshot(folder);
  const plan = JSON.parse(await kioku(home, "config", "openclaw", "--dry-run", "--json"));
  assert.ok(plan.dryRun && !fs.existsSync(plan.config));
  const first = JSON.parse(await kioku(home, "config", "openclaw", "--json"));
  assert.deepEqual(first.settings.map(({ key, value }) => `${key}=${value}`), [
    "compaction.memoryFlush.softThresholdTokens=1000", "model=toy-8", "provider=openai", "query.maxResults=4", `remote.baseUrl=${model.url}`, `workspace=${home.workspace}`,
  ]);
  assert.deepEqual(first.agents.map(({ id }) => id), ["main"]);
  assert.deepEqual(first.left.map((l) => l.key), ["memory.search.remote.apiKey"]);
  const written = fs.readFileSync(first.config, "utf8");
  assert.deepEqual(JSON.parse(await kioku(home, "config", "openclaw", "--json")).settings.filter((s) => !s.unchanged), []);
  assert.equal(fs.readFileSync(first.config, "utf8"), written);
  assert.deepEqual(snapshot(folder), before);
});

/** Returns the names, sizes and times of all files of a folder. */
function snapshot(folder) {
  return fs.readdirSync(folder, { recursive: true }).sort().map((name) => {
    const { size, mtimeMs } = fs.statSync(path.join(folder, name));
    return `${name} ${size} ${mtimeMs}`;
  });
}
