// The types of @kioku/client. docs/http.md of Kioku documents every field of the operations; names are in camelCase here.

/** Where the service is, and who asks. What is not set comes from the environment that the command kioku reads too. */
export interface ConnectOptions {
  /** `unix:/path/to/kioku.sock` or `host:port`; otherwise KIOKU_CLIENT_TARGET, and then the socket of `kioku serve`. */
  target?: string;
  /** Token of the service; otherwise KIOKU_CLIENT_TOKEN. `env:NAME` and `file:PATH` name where it is. */
  token?: string;
  /** PEM file of the authorities of the service; otherwise KIOKU_CLIENT_CA, and then those of Node. */
  ca?: string;
  /** PEM files of the certificate to show and of its key; otherwise KIOKU_CLIENT_CERT and KIOKU_CLIENT_KEY. */
  cert?: string;
  key?: string;
  /** Agent whose memory it is; otherwise KIOKU_AGENT, and then the only one that the token may reach. */
  agent?: string;
  /** Limit of a call that waits for no language model; 30,000 unless it is set. */
  timeoutMs?: number;
}

/** Who said something. */
export type Author = {id?: string; name?: string; isOwner?: boolean};

/** Whose words a note is made of, and where they were said. */
export type Origin = {channel?: string; authors?: Author[]};

/** A condition on a field of the front matter of a note. */
export interface Condition {
  field: string;
  /** "=" (also if unset), "!=", "in", "<", "<=", ">" or ">=". */
  op?: string;
  values: string[];
}

/** Options of every call. */
export interface ForAgent {
  /** Agent whose memory it is, in place of the one of the client. */
  agent?: string;
}

export interface SearchOptions extends ForAgent {
  maxResults?: number;
  maxPerFile?: number;
  minScore?: number;
  sources?: string[];
  pathPrefix?: string;
  filter?: Condition[];
  since?: string;
  until?: string;
  granularity?: 'passage' | 'chunk';
  maxSnippetChars?: number;
  clauses?: boolean;
  explain?: boolean;
  askTime?: Date | string;
  context?: {speaker: 'user' | 'assistant'; text: string}[];
  queries?: string[];
  kinds?: string[];
  asOfTime?: Date | string;
  includeSuperseded?: boolean;
  maxSensitivity?: 'normal' | 'private' | 'secret';
}

/** Something that an answer had to do without. */
export type Degradation = {code: string; text: string};

/** A passage. Lines are 1-based and inclusive. */
export interface Hit {
  path: string;
  startLine: number;
  endLine: number;
  score: number;
  snippet: string;
  snippetStartLine: number;
  snippetEndLine: number;
  source: string;
  heading?: string;
  date: string;
  vectorScore: number;
  textScore: number;
  citation: string;
  origin?: Origin;
  weak: boolean;
  trace?: Record<string, unknown>;
}

export interface SearchAnswer {
  /** Passages, best first. */
  results: Hit[];
  mode: string;
  degraded: Degradation[];
  provider: string;
  model: string;
  index: IndexStats;
  took: string;
  /** Facts, loops and summaries, if `kinds` asked for them. */
  units?: (Record<string, unknown> & {text: string; score: number})[];
  abstained: string;
  withheldCount?: number;
}

/** How far the index has followed the files. */
export type IndexStats = {generation: number; fileCount: number; chunkCount: number; pendingFileCount: number; lastSyncTime?: string};

/** Lines of a file. */
export interface Excerpt {
  path: string;
  text: string;
  from: number;
  lines: number;
  totalLineCount: number;
  truncated: boolean;
  /** Line at which the rest begins; 0 if there is none. */
  nextLine: number;
}

export interface WriteOptions extends ForAgent {
  /** Who writes: "agent" unless it is set. */
  source?: 'user' | 'agent' | 'tool';
  /** Keeps passwords and keys of known shapes, in whose places references are written otherwise. */
  keepSecrets?: boolean;
}

export interface AppendOptions extends WriteOptions {
  target?: 'daily' | 'long_term' | 'group';
  category?: string;
  idempotencyKey?: string;
  origin?: Origin;
  session?: string;
}

/** Where a note is. */
export interface Appended {
  path: string;
  startLine: number;
  /** The same text or key was there before, and nothing was written. */
  deduplicated: boolean;
  /** Secrets in whose places references were written. */
  secrets?: {kind: string}[];
  similar?: Record<string, unknown>;
}

export interface UpdateOptions extends WriteOptions {
  path?: string;
  reason?: string;
}

export interface Updated {
  path: string;
  startLine: number;
  /** Id of the update, for undo. */
  revision: string;
  secrets?: {kind: string}[];
}

export interface RecallOptions extends ForAgent {
  channel?: string;
  group?: boolean;
  sharedAgents?: string[];
  askTime?: Date | string;
  session?: string;
  author?: Author;
  context?: {speaker: 'user' | 'assistant'; text: string}[];
  standing?: boolean;
}

/** A memory that was found for a message. */
export interface Memory {
  agent: string;
  shared?: boolean;
  path: string;
  startLine: number;
  endLine: number;
  score: number;
  vectorScore?: number;
  textScore?: number;
  date?: string;
  text: string;
  kind?: string;
  quote?: string;
  origin?: Origin;
  flags?: string[];
}

/** What was searched for a message, what was found, and what was left out. */
export interface RecallReport {
  recalled: Memory[];
  query?: string;
  skipped?: string;
  searches?: {agent: string; hitCount: number; mode?: string; degraded?: Degradation[]; error?: string; took?: string}[];
  took?: string;
  leftOut?: (Memory & {reason: string})[];
}

export interface Recalled {
  report: RecallReport;
  /** What memory has, framed as data; empty if there is nothing. */
  block: string;
}

export interface PromptOptions extends RecallOptions {
  mode?: 'full' | 'minimal' | 'none';
  model?: string;
  blocks?: {name?: string; text: string; changing?: boolean}[];
  budgetTokens?: number;
  cacheFriendly?: boolean;
  noMemoryTools?: boolean;
  noRecall?: boolean;
}

export interface Prompt {
  /** System prompt. It is constant over a session, unless its files change. */
  prompt: string;
  /** What changes from turn to turn, for the newest message of the user. */
  turnBlock?: string;
  cachedBytes: number;
  tokens: number;
  overBudget?: boolean;
  group?: boolean;
  layers: {name: string; chars: number; tokens: number}[];
  recall: RecallReport;
  directives?: string[];
}

/** What a sync did. */
export interface SyncReport {
  files: number;
  chunks: number;
  removed: number;
  skipped: number;
  index: IndexStats;
  degraded?: Degradation[];
}

/** The state of the index, as far as programs need it. */
export interface Status {
  agent: string;
  workspace: string;
  index: IndexStats;
  space: {provider: string; model: string; dims?: number};
  degraded: Degradation[];
  version: string;
}

/** What is wrong with a call, and what to do about it. */
export class KiokuError extends Error {
  /** Kind of the error, such as `NOT_FOUND`. */
  code: string;
  /** Stable name of the error, such as `CONFLICT` or `READ_ONLY`; empty for an error without one. */
  reason: string;
  /** Fields of the request that are wrong. */
  fields: {field: string; problem: string}[];
  /** Seconds until the next attempt can succeed; 0 if that is not known. */
  retryAfterSeconds: number;
}

/** In which conversation tools are used. */
export interface ToolOptions {
  /** Channel of the conversation, such as "terminal" or "discord:general". */
  channel?: string;
  /** Several people take part: a group has fewer tools. Unset means that the channel decides. */
  group?: boolean;
  /** Who writes: "agent", or "tool" once the model has read results of other tools. The adapters set it for each call, unless it is set here. */
  source?: string;
  /** Session of the conversation, which knows the source of each call from the messages that it has seen. */
  session?: {source: string};
}

/** Definition of a tool, as the APIs of model providers take it. */
export interface Tool {
  name: string;
  description: string;
  /** JSON Schema of the input. */
  inputSchema: Record<string, any>;
}

/** A memory tool. */
export interface MemoryTool extends Tool {
  /**
   * Runs the tool with what the model gave, an object or its JSON; `by` says who writes in this call. The output is for the model, also if
   * the tool failed; a service that does not answer is such a failure.
   */
  call(input: unknown, by?: {source?: string}): Promise<{output: string; failed: boolean}>;
}

/** A message of a conversation, as the agent sends it to its own model. */
export interface Message {
  /** Id, unique in the session; one that is made of what the message says unless it is set. */
  id?: string;
  role?: 'user' | 'assistant' | 'tool' | (string & {});
  text?: string;
  /** Calls of an assistant; an input is an object, or its JSON. */
  toolCalls?: {id: string; name: string; input?: Record<string, any> | string}[];
  /** Which call of which tool a message of the role tool answers. */
  toolCallId?: string;
  toolName?: string;
  failed?: boolean;
  imageCount?: number;
  author?: Author;
  channel?: string;
}

/** One question to the agent's own model. */
export interface Question {
  system: string;
  /** Messages to show, and no others. */
  messages: Message[];
  /** Tools to offer, and no others. Their calls are not run. */
  tools: Tool[];
  /** Maximum length of the answer. */
  maxTokens?: number;
}

/** What the model answered. */
export interface Answer {
  text: string;
  toolCalls?: {id: string; name: string; input: any}[];
  /** The answer ended at its maximum length. */
  cutOff?: boolean;
}

/** Asks the agent's own model. If the question is too long for it, it throws an error with `tooLong: true`; shorter ones follow. */
export type Ask = (question: Question) => Promise<Answer>;

export interface SessionOptions {
  /** Asks the agent's own model to make notes and summaries. Without it, the language model of the service does. */
  ask?: Ask;
  /** Context window of the agent's model; otherwise that of the service's model. */
  windowTokens?: number;
  channel?: string;
  group?: boolean;
  /** Name of the agent's model, for the prompt. */
  model?: string;
  mode?: 'full' | 'minimal' | 'none';
  /** Gets what went wrong while memories were stored or old messages made a summary; otherwise it is a warning on the console. */
  onError?: (err: Error) => void;
}

/** What to send to the model. */
export interface Turn {
  system: string;
  /** A text block of the newest message of the user, that is sent and not stored. */
  turnBlock: string;
  /** Summary in place of the messages before keep; unset if there is none. */
  summary: Message | undefined;
  /** Index of the first message that stays. */
  keep: number;
  /** Texts to send of old results of tools, in place of what they are, by the index of their message. */
  shortened: Map<number, string>;
  /** All this but the turnBlock: the summary and the messages that stay, with ids. */
  messages: Message[];
  recall: RecallReport | undefined;
}

/** A note that was stored, or why it was not. */
export type StoredNote = Partial<Appended> & {refused?: string};

/** What came of the end of a conversation. */
export interface Ended {
  outcome: 'done' | 'skipped' | 'kept' | 'failed';
  reason?: string;
  coveredCount: number;
  uncoveredCount: number;
  notes?: StoredNote[];
  warnings?: string[];
}

/** A conversation that loses nothing: before messages leave its window, and when it ends, what matters of them is stored in memory. */
export class Session {
  constructor(client: Kioku, id: string, options?: SessionOptions);
  readonly id: string;
  /** Who writes a note now: "tool" if the model has read the result of a tool since the newest message of the user, otherwise "agent". */
  readonly source: string;
  /** Prepares a request to the model. It does not fail if the service is away: what went wrong goes to onError. */
  before(messages: Message[], due?: {projectedTokens?: number; transcriptBytes?: number; heartbeat?: boolean; overflow?: boolean; forced?: boolean}): Promise<Turn>;
  /** Tells the service of the messages, so that they are stored when the conversation stays idle although nobody ends it. */
  tell(messages: Message[]): Promise<void>;
  /** Stores now what is worth keeping of all messages, and returns the notes. */
  flush(messages: Message[]): Promise<StoredNote[]>;
  /** Ends the conversation: what is not stored is stored. Without a model it stays on disk until there is one. */
  end(messages: Message[]): Promise<Ended>;
}

/** A client of the memory service. */
export class Kioku {
  constructor(options?: ConnectOptions);
  /** Where the service is. */
  readonly target: string;
  /** Makes any call of the HTTP API, such as `call('POST /v1/notes:undo', {revision})`. Names of fields and of the answer are in camelCase. */
  call(route: string, fields?: Record<string, unknown>, options?: {timeoutMs?: number}): Promise<any>;
  /** Returns the passages that best answer a query in any language, best first. */
  search(query: string, options?: SearchOptions): Promise<SearchAnswer>;
  /** Returns lines of a memory file. */
  get(path: string, options?: ForAgent & {from?: number; lines?: number}): Promise<Excerpt>;
  /** Adds a note to today's file, or to MEMORY.md with target "long_term". */
  append(text: string, options?: AppendOptions): Promise<Appended>;
  /** Replaces a text that occurs once in MEMORY.md, or in another file that is not of a day; an empty new text removes it. */
  update(oldText: string, newText: string, options?: UpdateOptions): Promise<Updated>;
  /** Takes an update back, the latest one unless a revision is given. */
  undo(revision?: string): Promise<Updated>;
  /** Returns what memory has about a message. */
  recall(message: string, options?: RecallOptions): Promise<Recalled>;
  /** Returns the system prompt of a session, and what changes from turn to turn. */
  prompt(message: string, options?: PromptOptions): Promise<Prompt>;
  /** Waits until every change of the notes can be found. */
  sync(): Promise<SyncReport>;
  /** Returns the state of the index. */
  status(): Promise<Status>;
  /** Returns the memory tools of a conversation, for a model of any provider. */
  memoryTools(options?: ToolOptions): Promise<MemoryTool[]>;
  /** Returns a conversation whose messages are stored in memory before they leave its window, and when it ends. No other one has its name. */
  session(id: string, options?: SessionOptions): Session;
  /** Closes the connections. A program may also end without it. */
  close(): void;
}

/** Returns a client of the memory service. It connects with the first call, and again when the service was restarted. */
export function connect(options?: ConnectOptions): Kioku;
