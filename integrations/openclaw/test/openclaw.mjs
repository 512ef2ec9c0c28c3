// What the tests share: a home with OpenClaw's configuration, a gateway, a scripted model, and Kioku.
import { execFile, spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const plugin = fileURLToPath(new URL("..", import.meta.url));
const node = path.join(process.env.KIOKU_OPENCLAW ?? "", "node_modules/.bin");

/** Why the tests cannot run; undefined if they can. */
export const skip = !process.env.KIOKU_OPENCLAW || !process.env.KIOKU ? "run integrations/openclaw/ci" : undefined;

/** Returns a port on which nobody listens. */
export async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Returns the text of a message's content. */
export function text(content) {
  return typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("\n");
}

/**
 * A scripted model with OpenAI's API. answer(body) returns a text, or {call: {name, input}}. Requests are those of chats. It says how
 * long a prompt was: four bytes a token.
 */
export async function startModel(answer) {
  const requests = [];
  const server = http.createServer(async (req, res) => {
    let read = "";
    for await (const part of req) read += part;
    if (!req.url.endsWith("/chat/completions")) return reply(res, embeddings(JSON.parse(read || "{}")));
    const body = JSON.parse(read);
    requests.push(body);
    const said = await answer(body);
    const usage = { prompt_tokens: Math.ceil(Buffer.byteLength(read) / 4), completion_tokens: 5, total_tokens: Math.ceil(Buffer.byteLength(read) / 4) + 5 };
    stream(res, body, said, usage);
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return { requests, url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
}

function reply(res, object) {
  res.setHeader("content-type", "application/json");
  res.end(JSON.stringify(object));
}

/** Returns toy embeddings: how often each letter is there. */
function embeddings({ input = [], model }) {
  const data = [].concat(input).map((words, index) => {
    const embedding = Array(8).fill(0.1);
    for (const c of words) embedding[c.codePointAt(0) % 8] += 1;
    return { object: "embedding", index, embedding };
  });
  return { object: "list", model, data, usage: { prompt_tokens: 1, total_tokens: 1 } };
}

function stream(res, { model, stream }, said, usage) {
  const calls = [].concat(said.call ?? []).map(({ name, input }, index) => ({
    index, id: `call${Date.now()}${index}`, type: "function", function: { name, arguments: JSON.stringify(input) },
  }));
  const message = calls.length ? { role: "assistant", content: null, tool_calls: calls } : { role: "assistant", content: said };
  const finish_reason = calls.length ? "tool_calls" : "stop";
  if (!stream) return reply(res, { id: "m", object: "chat.completion", model, choices: [{ index: 0, message, finish_reason }], usage });
  res.setHeader("content-type", "text/event-stream");
  const chunk = (choices, more) => res.write(`data: ${JSON.stringify({ id: "m", object: "chat.completion.chunk", model, choices, ...more })}\n\n`);
  chunk([{ index: 0, delta: message, finish_reason: null }]);
  chunk([{ index: 0, delta: {}, finish_reason }], { usage });
  res.end("data: [DONE]\n\n");
}

/** A home of its own with OpenClaw's configuration, in which the plugin has the memory slot. */
export function makeHome(t, modelURL, { kioku = {}, window = 200_000, config = {}, slot = true } = {}) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "kioku-openclaw-"));
  const workspace = path.join(dir, "workspace");
  fs.mkdirSync(path.join(workspace, "memory"), { recursive: true });
  fs.mkdirSync(path.join(dir, ".openclaw"));
  const home = { dir, workspace, config: path.join(dir, ".openclaw", "openclaw.json") };
  const scripted = { id: "scripted", name: "Scripted", reasoning: false, input: ["text"], contextWindow: window, maxTokens: 1000 };
  scripted.cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const settings = {
    models: { mode: "replace", providers: { scripted: { baseUrl: modelURL, apiKey: "test", api: "openai-completions", models: [scripted] } } },
    agents: { defaults: { workspace, model: { primary: "scripted/scripted" }, skipBootstrap: true, compaction: { mode: "default", keepRecentTokens: 1500, memoryFlush: { softThresholdTokens: 1000 } }, skills: [] } },
    tools: { allow: ["read", "write", "memory_search", "memory_get", "memory_append"] },
    gateway: { mode: "local", auth: { mode: "token", token: "test" }, http: { endpoints: { chatCompletions: { enabled: true } } } },
    ...config,
  };
  if (slot)
    settings.plugins = {
      allow: ["kioku"],
      load: { paths: [plugin] },
      slots: { memory: "kioku" },
      entries: {
        kioku: { enabled: true, hooks: { allowConversationAccess: true }, config: { command: process.env.KIOKU, ...kioku } },
        "memory-core": { enabled: false },
      },
    };
  fs.writeFileSync(home.config, JSON.stringify(settings, null, 1));
  t.after(async () => {
    await stopDaemons(home);
    fs.rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  return home;
}

/** Returns the environment of programs in a home. */
export function env(home) {
  return { HOME: home.dir, PATH: `${node}:${process.env.PATH}`, OPENCLAW_DISABLE_BONJOUR: "1", TMPDIR: os.tmpdir() };
}

/** Runs openclaw and returns what it wrote. */
export async function openclaw(home, ...args) {
  const { stdout } = await promisify(execFile)(path.join(node, "openclaw"), args, { env: env(home), timeout: 300_000, maxBuffer: 64 << 20 });
  return stdout;
}

/** Runs kioku and returns what it wrote. */
export async function kioku(home, ...args) {
  const { stdout } = await promisify(execFile)(process.env.KIOKU, args, { env: env(home), cwd: home.dir, timeout: 300_000 });
  return stdout;
}

/** Kills the daemons of a home, as a power cut would. */
export async function stopDaemons(home) {
  for (const pid of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const environ = fs.readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      const command = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      if (environ.includes(`HOME=${home.dir}`) && command.includes("serve") && command.includes("--background")) process.kill(+pid, "SIGKILL");
    } catch {
      // the process has ended, or is another user's
    }
  }
}

/** Starts a gateway, and returns how to talk to it and how to stop it. */
export async function startGateway(t, home) {
  const port = await freePort();
  const log = fs.openSync(path.join(home.dir, "gateway.log"), "a");
  const child = spawn(path.join(node, "openclaw"), ["gateway", "run", "--port", String(port), "--bind", "loopback"], { env: env(home), stdio: ["ignore", log, log] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const logged = () => fs.readFileSync(path.join(home.dir, "gateway.log"), "utf8").slice(-3000);
  const gateway = {
    logged,
    async say(session, content) {
      const res = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: "Bearer test", "content-type": "application/json", "x-openclaw-session-key": session },
        body: JSON.stringify({ model: "openclaw/main", messages: [{ role: "user", content }] }),
        signal: AbortSignal.timeout(120_000),
      }).catch((err) => {
        throw new Error(`${content}: ${err.message}\n${logged()}`);
      });
      const answer = await res.json();
      if (!res.ok) throw new Error(`${content}: ${res.status}: ${JSON.stringify(answer)}\n${logged()}`);
      return answer.choices[0].message.content;
    },
    /** Ends a session as /new does. */
    reset: (session) => openclaw(home, "gateway", "call", "sessions.reset", "--url", `ws://127.0.0.1:${port}`, "--token", "test", "--params", JSON.stringify({ key: session, reason: "new" })),
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      await ended;
    },
  };
  fs.closeSync(log); // the child has its own
  t.after(() => gateway.stop("SIGKILL"));
  for (let i = 0; ; i++) {
    const up = await fetch(`http://127.0.0.1:${port}/readyz`).then((r) => r.ok, () => false);
    if (up) return gateway;
    if (child.exitCode !== null || i > 600) throw new Error(`the gateway does not start: ${logged()}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
