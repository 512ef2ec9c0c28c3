import {spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {connect} from '@kioku/client';

/** The program. */
export const kioku = process.env.KIOKU || fileURLToPath(new URL('../../../bin/kioku', import.meta.url));

/** A "kioku serve" of one agent, in a home of its own. */
export class Daemon {
  /** Makes a workspace with files, by path, and starts a daemon of it that ends with the test. */
  static async start(t, files = {}, ...args) {
    const daemon = new Daemon(files, args);
    t.after(() => daemon.remove());
    await daemon.run();
    return daemon;
  }

  constructor(files, args) {
    this.home = mkdtempSync(join(tmpdir(), 'kioku-js-'));
    this.workspace = join(this.home, 'w');
    this.socket = join(this.home, 's', 'kioku.sock');
    this.target = `unix:${this.socket}`;
    this.args = args;
    for (const [path, text] of Object.entries({'MEMORY.md': '# Memory\n', ...files})) {
      mkdirSync(join(this.workspace, path, '..'), {recursive: true});
      writeFileSync(join(this.workspace, path), text);
    }
  }

  /** Starts the daemon and waits until it is ready. */
  async run() {
    this.child = spawn(kioku, ['serve', '--workspace', this.workspace, '--state', join(this.home, 's'), '--listen', 'none',
      '--until-eof', ...this.args], {env: {PATH: process.env.PATH, HOME: this.home, TZ: 'UTC'}, stdio: ['pipe', 'ignore', 'pipe']});
    this.ended = new Promise((resolve) => this.child.once('exit', (code, signal) => resolve(code ?? signal)));
    const log = this.log = [];
    for await (const line of createInterface({input: this.child.stderr})) {
      log.push(line);
      if (line.includes(' ready: ')) {
        this.child.stderr.resume();
        return;
      }
    }
    throw new Error(`kioku serve ended before it was ready:\n${log.join('\n')}`);
  }

  /** Ends the daemon, as by SIGTERM, or at once. */
  async stop(signal = 'SIGTERM') {
    this.child.kill(signal);
    return this.ended;
  }

  async remove() {
    if (this.child?.exitCode === null) await this.stop();
    rmSync(this.home, {recursive: true, force: true});
  }

  /** A client, closed with the test. */
  connect(t, options = {}) {
    const client = connect({target: this.target, ...options});
    t.after(() => client.close());
    return client;
  }

  /** The text of all daily notes. */
  notes() {
    const folder = join(this.workspace, 'memory');
    return readdirSync(folder).sort().map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
  }
}

/** Returns an answer of a scripted model that waits until what was stored can be found. */
export const indexed = (client, answer) => async (...args) => {
  await client.sync();
  return answer(...args);
};

/** Does something ten minutes ago. */
export async function earlier(run) {
  const {now} = Date;
  Date.now = () => now() - 600_000;
  return run().finally(() => { Date.now = now; });
}
