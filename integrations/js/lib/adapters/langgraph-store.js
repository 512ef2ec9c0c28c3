import {mkdir, readFile, readdir, rename, rm, writeFile} from 'node:fs/promises';
import {dirname, join, relative, sep} from 'node:path';
import {BaseStore} from '@langchain/langgraph';

/** Folder of the items in the workspace. */
const folder = 'memory/store';

/**
 * A store of LangGraph whose items are notes: `memory/store/NAMESPACE/KEY.md`, with the value as front matter and its texts below it, so that
 * people read and correct them, and recall finds them. It writes to the workspace, so it runs on the machine of the service.
 */
export class KiokuStore extends BaseStore {
  #kioku;
  /** @type {Promise<string> | undefined} */
  #root;
  #stale = false;

  /** @param {import('../client.js').Kioku} kioku */
  constructor(kioku) {
    super();
    this.#kioku = kioku;
  }

  /** @param {any[]} operations @returns {Promise<any>} */
  async batch(operations) {
    const results = [];
    for (const op of operations) {
      if ('namespacePrefix' in op) results.push(await this.#search(op));
      else if ('value' in op) results.push(await this.#put(op));
      else if ('key' in op) results.push(await this.#read(await this.#path(op.namespace, op.key)));
      else results.push(await this.#listNamespaces(op));
    }
    return results;
  }

  /** @param {any} op */
  async #put({namespace, key, value, index}) {
    const path = await this.#path(namespace, key);
    this.#stale = true;
    if (value === null) return rm(path, {force: true});
    const now = new Date();
    const createdAt = (await this.#read(path))?.createdAt ?? now;
    await mkdir(dirname(path), {recursive: true});
    const item = {namespace, key, createdAt, updatedAt: now, value};
    const front = Object.entries(item).map(([name, field]) => `${name}: ${JSON.stringify(field)}`).join('\n');
    await writeFile(`${path}.part`, `---\n${front}\n---\n\n${textsOf(value, index).join('\n\n')}\n`);
    await rename(`${path}.part`, path);
  }

  /** @param {any} op */
  async #search({namespacePrefix, query, filter = {}, limit = 10, offset = 0}) {
    const items = query ? await this.#find(namespacePrefix, query) : await this.#all(namespacePrefix);
    return items.filter(({value}) => Object.entries(filter).every(([name, want]) => matches(value[name], want))).slice(offset, offset + limit);
  }

  /** Returns items that answer a query, best first. @param {string[]} namespace @param {string} query */
  async #find(namespace, query) {
    if (this.#stale) for await (const _ of this.#kioku.memory.sync({noRebuild: true}));
    this.#stale = false;
    const pathPrefix = `${[folder, ...namespace.map(fileName)].join('/')}/`;
    const {results} = await this.#kioku.search(query, {pathPrefix, maxResults: 100, maxPerFile: 1, minScore: 0});
    const root = await this.#folder();
    const items = await Promise.all(results.map(async ({path, score}) => ({...await this.#read(join(root, relative(folder, path))), score})));
    return items.filter((item) => item.key !== undefined);
  }

  /** Returns all items, the latest first. @param {string[]} namespace @returns {Promise<any[]>} */
  async #all(namespace) {
    const items = await Promise.all((await this.#files(namespace)).map((path) => this.#read(path)));
    return items.filter((item) => item !== null).sort((a, b) => b.updatedAt - a.updatedAt);
  }

  /** @param {any} op */
  async #listNamespaces({matchConditions = [], maxDepth, limit = 100, offset = 0}) {
    const root = await this.#folder();
    const found = (await this.#files([])).map((path) => relative(root, dirname(path)).split(sep).map(decodeURIComponent))
      .filter((namespace) => matchConditions.every((/** @type {any} */ {matchType, path}) => {
        const part = matchType === 'prefix' ? namespace.slice(0, path.length) : namespace.slice(-path.length);
        return part.length === path.length && part.every((label, i) => path[i] === '*' || path[i] === label);
      }));
    const unique = new Map(found.map((n) => n.slice(0, maxDepth)).map((n) => [n.join('/'), n]));
    return [...unique.keys()].sort().map((k) => unique.get(k)).slice(offset, offset + limit);
  }

  /** @param {string[]} namespace */
  async #files(namespace) {
    const top = join(await this.#folder(), ...namespace.map(fileName));
    const entries = await readdir(top, {recursive: true, withFileTypes: true}).catch(absent([]));
    return entries.filter((e) => e.isFile() && e.name.endsWith('.md')).map((e) => join(e.parentPath ?? /** @type {any} */ (e).path, e.name));
  }

  /** @param {string} path @returns {Promise<any>} */
  async #read(path) {
    const text = await readFile(path, 'utf8').catch(absent(''));
    const front = /^---\n([^]*?)\n---\n/.exec(text)?.[1];
    if (!front) return null;
    const item = Object.fromEntries(front.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), JSON.parse(line.slice(line.indexOf(': ') + 2))]));
    return {...item, createdAt: new Date(item.createdAt), updatedAt: new Date(item.updatedAt)};
  }

  /** @param {string[]} namespace @param {string} key */
  async #path(namespace, key) {
    return `${join(await this.#folder(), ...namespace.map(fileName), fileName(key))}.md`;
  }

  /** Returns the folder of the items. */
  #folder() {
    this.#root ??= this.#kioku.memory.status({}).then(async ({workspace}) => {
      await readdir(workspace).catch((cause) => {
        throw new Error(`the store writes to the workspace ${workspace}: run it on the machine of the service, as a user who may read it`, {cause});
      });
      return join(workspace, folder);
    });
    return this.#root;
  }
}

/** Returns the texts of a value to search for: all of them, or those at the paths of index. @param {any} value @param {false | string[]} [index] @returns {string[]} */
function textsOf(value, index) {
  if (index === false) return [];
  if (index) return index.flatMap((path) => textsOf(path.split(/\.|\[|\]/).filter(Boolean).reduce(at, value)));
  if (typeof value === 'string') return [value];
  return value && typeof value === 'object' ? Object.values(value).flatMap((v) => textsOf(v)) : [];
}

/** @param {any} value @param {string} step */
function at(value, step) {
  if (step === '*') return value;
  return Array.isArray(value) && !/^-?\d+$/.test(step) ? value.map((v) => v?.[step]) : Array.isArray(value) ? value.at(Number(step)) : value?.[step];
}

/** Reports whether a field meets a condition of a filter. @param {any} got @param {any} want */
function matches(got, want) {
  const operators = want && typeof want === 'object' && Object.keys(want).every((k) => k.startsWith('$')) ? want : {$eq: want};
  return Object.entries(operators).every(([op, value]) => {
    switch (op) {
      case '$eq': return JSON.stringify(got) === JSON.stringify(value);
      case '$ne': return JSON.stringify(got) !== JSON.stringify(value);
      case '$gt': return got > value;
      case '$gte': return got >= value;
      case '$lt': return got < value;
      case '$lte': return got <= value;
      default: throw new TypeError(`a filter has no operator ${op}: use $eq, $ne, $gt, $gte, $lt or $lte`);
    }
  });
}

/** Returns a name of a file for any text: letters, digits, _ and - are themselves. @param {string} text */
function fileName(text) {
  const name = text.replace(/[^\p{L}\p{N}_-]/gu, (c) => [...Buffer.from(c)].map((b) => `%${b.toString(16).toUpperCase().padStart(2, '0')}`).join(''));
  if (!name || Buffer.byteLength(name) > 240) throw new RangeError(`namespaces and keys have 1 to 240 bytes: ${text.slice(0, 40)}`);
  return name;
}

/** @template T @param {T} value */
function absent(value) {
  return (/** @type {NodeJS.ErrnoException} */ err) => {
    if (err.code === 'ENOENT') return value;
    throw err;
  };
}
