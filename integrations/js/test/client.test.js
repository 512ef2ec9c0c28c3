import assert from 'node:assert/strict';
import {test} from 'node:test';
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createServer as createSecureServer} from 'node:tls';
import {connect, KiokuError} from '@kioku/client';
import {findTarget} from '../lib/transport.js';
import {Daemon, kioku} from './daemon.js';

test('the typed client stores, finds and reads notes', async (t) => {
  const daemon = await Daemon.start(t);
  const client = daemon.connect(t);
  const note = await client.append('The beta opens on 3 March.', {category: 'fact'});
  assert.match(note.path, /^memory\/\d{4}-\d\d-\d\d\.md$/);
  const {results} = await client.search('When does the beta open?', {maxResults: 1});
  assert.equal(results[0].path, note.path);
  assert.match(results[0].snippet, /3 March/);
  const file = await client.get(note.path, {from: note.startLine, lines: 3});
  assert.match(file.text, /The beta opens on 3 March\./);
  assert.match(daemon.notes(), /3 March\..*from=agent/);
});

test('recall and prompt bring what memory has about a message', async (t) => {
  const client = (await Daemon.start(t, {'memory/2026-01-10.md': '# 2026-01-10\n\nThe boiler pressure fell to 0.8 bar.\n'})).connect(t);
  assert.match((await client.recall('What was the boiler pressure?')).block, /0\.8 bar/);
  assert.equal((await client.recall('thanks')).block, '');
  const {prompt, recall} = await client.prompt('What was the boiler pressure?', {channel: 'terminal'});
  assert.equal(recall.recalled[0].path, 'memory/2026-01-10.md');
  assert.match(prompt, /## Memory/);
});

test('a sync returns its report, and status the state after it', async (t) => {
  const client = (await Daemon.start(t)).connect(t);
  assert.equal((await client.sync()).skipped, 0);
  assert.equal((await client.status()).index.fileCount, 1);
});

test('errors say what to do', async (t) => {
  const daemon = await Daemon.start(t);
  const client = daemon.connect(t);
  const thrown = (promise) => promise.then(() => assert.fail('no error'), (err) => {
    assert.ok(err instanceof KiokuError);
    return err;
  });
  const missing = await thrown(client.get('memory/none.md'));
  assert.deepEqual([missing.code, missing.reason], ['NOT_FOUND', 'NOT_FOUND']);
  assert.match(missing.message, /use a path as a search result gives it/);
  const blank = await thrown(client.search(''));
  assert.deepEqual([blank.code, blank.fields], ['INVALID_ARGUMENT', [{field: 'query', problem: 'is empty: say what to look for'}]]);
  const misspelled = await thrown(client.append('x', {categry: 'fact'}));
  assert.deepEqual([misspelled.code, misspelled.fields.map((f) => f.field)], ['INVALID_ARGUMENT', ['categry']]);
  assert.match(misspelled.message, /categry: .*did you mean category\?/);
  const long = await thrown(client.append('a'.repeat(5_000_000)));
  assert.equal(long.code, 'INVALID_ARGUMENT');
  assert.match(long.message, /more than 4 MiB.*shorten/);
  const agent = await thrown(daemon.connect(t, {agent: 'nobody'}).search('x'));
  assert.deepEqual([agent.code, agent.reason], ['NOT_FOUND', 'NO_AGENT']);
  const late = await thrown(daemon.connect(t, {timeoutMs: 0.01}).search('x'));
  assert.equal(late.code, 'DEADLINE_EXCEEDED');

  await daemon.stop();
  const away = await thrown(client.search('x'));
  assert.equal(away.code, 'UNAVAILABLE');
  assert.match(away.message, /^no Kioku service answers at unix:.*; start one: kioku serve --workspace DIR$/);
  await daemon.run();
  assert.equal((await client.search('x')).results.length, 0, 'the client connects again');
});

test('over TCP a token opens the memory, also one that a variable or a file contains', async (t) => {
  const daemon = new Daemon({}, []);
  t.after(() => daemon.remove());
  const file = join(daemon.home, 'tokens.yaml');
  const token = execFileSync(kioku, ['token', 'add', 'js', '--agents', 'main', '--token-file', file], {env: {HOME: daemon.home}, encoding: 'utf8'}).trim();
  daemon.args = ['--listen', '127.0.0.1:0', '--token-file', file];
  await daemon.run();
  const target = daemon.log.join('\n').match(/listening on tcp:(\S+)/)[1];
  await assert.rejects(connect({target}).search('x'), {code: 'UNAUTHENTICATED'});
  await assert.rejects(connect({target, token: 'wrong'}).search('x'), {code: 'UNAUTHENTICATED'});
  process.env.TOKEN_OF_A_TEST = token;
  for (const given of [token, 'env:TOKEN_OF_A_TEST']) {
    const client = connect({target, token: given});
    assert.equal((await client.search('x')).results.length, 0);
    client.close();
  }
});

test('a connection that the service ends, and certificates that do not fit, say what to do', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kioku-tls-'));
  t.after(() => rmSync(folder, {recursive: true, force: true}));
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name));
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', cert, '-days', '2',
    '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'], {stdio: 'ignore'});
  let requests = 0;
  const plain = createServer((socket) => socket.once('data', () => { requests++; socket.destroy(); }));
  const secure = createSecureServer({key: readFileSync(key), cert: readFileSync(cert), ALPNProtocols: ['http/1.1']}, () => {});
  for (const server of [plain, secure]) {
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
  }
  const asked = (server, options, problem) => {
    const client = connect({target: `127.0.0.1:${server.address().port}`, ...options});
    t.after(() => client.close());
    return assert.rejects(client.search('x'), (err) => {
      assert.equal(err.code, 'UNAVAILABLE', err.message);
      assert.match(err.message, problem);
      return true;
    });
  };
  await asked(plain, {}, /ended the connection; if it was stopped, start one: kioku serve --workspace DIR; if it speaks TLS, set KIOKU_CLIENT_CA/);
  assert.equal(requests, 2, 'a call that is cut off is made once more');
  await assert.rejects(connect({target: `127.0.0.1:${plain.address().port}`}).update('a', 'b'), {code: 'UNAVAILABLE'});
  assert.equal(requests, 3, 'an update is not');
  await asked(secure, {}, /if it speaks TLS, set KIOKU_CLIENT_CA/);
  await asked(secure, {ca: cert}, /certificate.*set KIOKU_CLIENT_CA .*or use the name/i);
  assert.throws(() => connect({ca: join(folder, 'none.pem')}), /no PEM file can be read for the option ca \(or KIOKU_CLIENT_CA\): ENOENT/);
});

test('the target is that of the command kioku', () => {
  const find = (env, options) => findTarget(options, env);
  assert.equal(find({HOME: '/h'}), 'unix:/h/.local/state/kioku/kioku.sock');
  assert.equal(find({HOME: '/h', XDG_STATE_HOME: '/x'}), 'unix:/x/kioku/kioku.sock');
  assert.equal(find({HOME: '/h', KIOKU_STATE: '/s'}), 'unix:/s/kioku.sock');
  assert.equal(find({KIOKU_STATE: '/s', KIOKU_SOCKET: '/k.sock'}), 'unix:/k.sock');
  assert.equal(find({KIOKU_SOCKET: '/k.sock', KIOKU_CLIENT_TARGET: 'host:7600'}), 'host:7600');
  assert.equal(find({KIOKU_CLIENT_TARGET: 'host:7600'}, {target: 'unix:/a.sock'}), 'unix:/a.sock');
  assert.throws(() => connect({target: 'http://x'}), /write unix:\/path\/to\/kioku\.sock or host:port/);
  assert.throws(() => connect({target: '127.0.0.1'}), /host:port/);
});

test('the default socket is the one that kioku serve chooses, also when its path would be too long', async (t) => {
  const daemon = new Daemon({}, []);
  t.after(() => daemon.remove());
  for (const state of ['s', 'long'.repeat(40)]) {
    daemon.args = ['--state', `${daemon.home}/${state}`];
    await daemon.run();
    const client = connect({target: findTarget({}, {KIOKU_STATE: `${daemon.home}/${state}`})});
    assert.equal((await client.search('x')).results.length, 0);
    client.close();
    await daemon.stop();
  }
});
