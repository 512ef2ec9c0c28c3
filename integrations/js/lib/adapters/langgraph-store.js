import {createHash, randomUUID} from 'node:crypto';
import {mkdir, readFile, readdir, rename, rm, writeFile} from 'node:fs/promises';
import {dirname, join, relative} from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {BaseStore} from '@langchain/langgraph';

/** Folder of the items in the workspace. */
const folder = 'memory/store';

/**
 * A store of LangGraph whose items are notes: `memory/store/NAMESPACE/KEY.md`, where people read and correct them and recall finds them. One with
 * `index: false` ends in .json, and is not indexed. The store writes to the workspace, so it runs on the machine of the service. It shares
 * its items with the store of Kioku's Python package. The service does not see what is written: secrets are not left out, as they are of notes.
 */
export class KiokuStore extends BaseStore {
  #kioku;
  #root;
  #stale = false;
  /** The last write, after which the next one begins. */
  #written = Promise.resolve();

  constructor(kioku) {
    super();
    this.#kioku = kioku;
  }

  async batch(operations) {
    const results = [];
    for (const op of operations) {
      if ('namespacePrefix' in op) results.push(await this.#search(op));
      else if ('value' in op) results.push(await this.#put(op));
      else if ('key' in op) results.push(await this.#get(op));
      else results.push(await this.#listNamespaces(op));
    }
    return results;
  }

  async #get({namespace, key}) {
    const [markdown, plain] = await this.#paths(namespace, key);
    return await readItem(markdown) ?? readItem(plain);
  }

  #put(op) {
    const done = this.#written.then(() => this.#write(op));
    this.#written = done.catch(() => {});
    return done;
  }

  async #write({namespace, key, value, index}) {
    const [markdown, plain] = await this.#paths(namespace, key);
    const texts = await Promise.all([markdown, plain].map(readText));
    const before = texts.map(parseItem).find((item) => item !== null);
    const foreign = before ? -1 : texts.findIndex(Boolean);
    if (foreign >= 0) throw new Error(`${[markdown, plain][foreign]} is no item any more, somebody has changed it: move it elsewhere`);
    this.#stale = true;
    const now = new Date();
    const [path, other] = index === false ? [plain, markdown] : [markdown, plain];
    if (value !== null) await writeItem(path, {namespace, key, value, createdAt: before?.createdAt ?? now, updatedAt: now});
    for (const stale of value === null ? [path, other] : [other]) await rm(stale, {force: true});
  }

  async #search({namespacePrefix, query, filter = {}, limit = 10, offset = 0}) {
    const items = query ? await this.#find(namespacePrefix, query) : await this.#all(namespacePrefix);
    return items.filter(({value}) => Object.entries(filter).every(([name, want]) => matches(value[name], want))).slice(offset, offset + limit);
  }

  /** Returns items that answer a query, best first. */
  async #find(namespace, query) {
    if (this.#stale) await this.#kioku.sync();
    this.#stale = false;
    const pathPrefix = `${[folder, ...namespace.map(fileName)].join('/')}/`;
    const {results} = await this.#kioku.search(query, {pathPrefix, maxResults: 100, maxPerFile: 1, minScore: 0});
    const root = await this.#folder();
    const items = await Promise.all(results.map(async ({path, score}) => ({...await readItem(join(root, relative(folder, path))), score})));
    return items.filter((item) => item.key !== undefined);
  }

  /** Returns all items, the latest first. */
  async #all(namespace) {
    const items = await Promise.all((await this.#files(namespace)).map(readItem));
    return items.filter((item) => item !== null).sort((a, b) => b.updatedAt - a.updatedAt);
  }

  async #listNamespaces({matchConditions = [], maxDepth, limit = 100, offset = 0}) {
    const found = (await this.#all([])).map((item) => item.namespace)
      .filter((namespace) => matchConditions.every(({matchType, path}) => {
        const part = matchType === 'prefix' ? namespace.slice(0, path.length) : namespace.slice(-path.length);
        return part.length === path.length && part.every((label, i) => path[i] === '*' || path[i] === label);
      }));
    const unique = new Map(found.map((n) => n.slice(0, maxDepth)).map((n) => [JSON.stringify(n), n]));
    return [...unique.keys()].sort().map((k) => unique.get(k)).slice(offset, offset + limit);
  }

  async #files(namespace) {
    const top = join(await this.#folder(), ...namespace.map(fileName));
    const entries = await readdir(top, {recursive: true, withFileTypes: true}).catch(absent([]));
    return entries.filter((e) => e.isFile() && /\.(md|json)$/.test(e.name)).map((e) => join(e.parentPath ?? e.path, e.name));
  }

  /** Returns the files that an item may be in. */
  async #paths(namespace, key) {
    const path = join(await this.#folder(), ...namespace.map(fileName), fileName(key));
    return [`${path}.md`, `${path}.json`];
  }

  /** Returns the folder of the items. */
  #folder() {
    this.#root ??= this.#kioku.status().then(async ({workspace}) => {
      await readdir(workspace).catch((cause) => {
        throw new Error(`the store writes to the workspace ${workspace}: run it on the machine of the service, as a user who may read it`, {cause});
      });
      return join(workspace, folder);
    }).catch((err) => {
      this.#root = undefined; // the service may answer the next time
      throw err;
    });
    return this.#root;
  }
}

/** Replaces a file by one with an item. */
async function writeItem(path, {namespace, key, value, createdAt, updatedAt}) {
  const head = {namespace, key, created: createdAt, updated: updatedAt};
  const front = Object.entries(head).map(([name, field]) => `${name}: ${JSON.stringify(field)}\n`).join('');
  const part = join(dirname(path), `.${randomUUID()}.part`); // other writers have their own
  await mkdir(dirname(path), {recursive: true});
  try {
    await writeFile(part, `---\n${front}---\n\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\`\n`);
    await rename(part, path);
  } catch (err) {
    await rm(part, {force: true});
    throw err;
  }
}

/** Returns the item in a file; null if there is none, or if a person has made something else of it. */
async function readItem(path) {
  return parseItem(await readText(path));
}

/** Returns the text of a file; empty if there is none. */
function readText(path) {
  return readFile(path, 'utf8').catch(absent(''));
}

function parseItem(text) {
  const [, front, value] = /^---\n([^]*?)---\n[^]*?```json\n([^]*)\n```/.exec(text) ?? [];
  try {
    const {namespace, key, created, updated} = Object.fromEntries(front.trim().split('\n').map((line) => {
      const at = line.indexOf(': ');
      return [line.slice(0, at), JSON.parse(line.slice(at + 2))];
    }));
    return Array.isArray(namespace) ? {namespace, key, value: JSON.parse(value), createdAt: new Date(created), updatedAt: new Date(updated)} : null;
  } catch {
    return null;
  }
}

/** Reports whether a field meets a condition of a filter. */
function matches(got, want) {
  const operators = want && typeof want === 'object' && Object.keys(want)[0]?.startsWith('$') ? want : {$eq: want};
  return Object.entries(operators).every(([op, value]) => {
    switch (op) {
      case '$eq': return isDeepStrictEqual(got, asStored(value));
      case '$ne': return !isDeepStrictEqual(got, asStored(value));
      case '$gt': return got > value;
      case '$gte': return got >= value;
      case '$lt': return got < value;
      case '$lte': return got <= value;
      default: throw new TypeError(`a filter has no operator ${op}: use $eq, $ne, $gt, $gte, $lt or $lte`);
    }
  });
}

/** Returns a value as an item has it. */
function asStored(value) {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Returns a name as one of a file: what a path or Kioku reads in another way is escaped, and a long one ends in a hash. */
function fileName(text) {
  const safe = text.replace(/^\.|[%/\\:*?"<>|\x00-\x1f]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
  if (Buffer.byteLength(safe) <= 200) return safe;
  const head = new TextDecoder().decode(Buffer.from(safe).subarray(0, 160)).replace(/\uFFFD$/, '');
  return `${head}-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
}

function absent(value) {
  return (err) => {
    if (err.code === 'ENOENT') return value;
    throw err;
  };
}
