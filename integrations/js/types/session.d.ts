export type Message = import('./messages.js').Message;
export type Identified = Message & {
    id: string;
};
export type CheckFlushRequest = import('../gen/kioku/v1/agent_pb.js').CheckFlushRequest;
export type Question = {
    /**
     * System prompt.
     */
    system: string;
    /**
     * Messages to show, and no others.
     */
    messages: Message[];
    /**
     * Tools to offer, and no others. Their calls are not run.
     */
    tools: {
        name: string;
        description: string;
        inputSchema: Record<string, any>;
    }[];
    /**
     * Maximum length of the answer.
     */
    maxTokens?: number;
};
export type Answer = {
    text: string;
    toolCalls?: {
        id: string;
        name: string;
        input: any;
    }[];
    /**
     * The answer ended at its maximum length.
     */
    cutOff?: boolean;
};
export type Ask = (question: Question) => Promise<Answer>;
export type SessionOptions = {
    /**
     * Asks the agent's own model to make notes and summaries. Without it, the language model of the service does.
     */
    ask?: Ask;
    /**
     * Context window of the agent's model; otherwise that of the service's model.
     */
    windowTokens?: number;
    /**
     * Channel of the conversation, such as "terminal" or "discord:general".
     */
    channel?: string;
    /**
     * Several people take part. Unset means that the channel decides.
     */
    group?: boolean;
    /**
     * Name of the agent's model, for the prompt.
     */
    model?: string;
    /**
     * Extent of the prompt: "full", "minimal" or "none".
     */
    mode?: string;
    /**
     * Gets what went wrong while memories were stored or old messages made a summary; the conversation
     * goes on with the messages that it has. Otherwise it is a warning on the console.
     */
    onError?: (err: Error) => void;
};
export type Turn = {
    /**
     * System prompt. It is constant over a session, unless its files change.
     */
    system: string;
    /**
     * What changes from turn to turn, with the memories: a text block of the newest message of the user, that is
     * sent and not stored.
     */
    turnBlock: string;
    /**
     * Summary in place of the messages before keep; unset if there is none.
     */
    summary: Message | undefined;
    /**
     * Index of the first message that stays.
     */
    keep: number;
    /**
     * Texts to send of old results of tools, in place of what they are, by the index of their message.
     */
    shortened: Map<number, string>;
    /**
     * All this but the turnBlock: the summary and the messages that stay, with ids.
     */
    messages: Message[];
    /**
     * What was recalled, and why.
     */
    recall: import('../gen/kioku/v1/agent_pb.js').RecallReport | undefined;
};
/** A conversation that loses nothing: before messages leave its window, and when it ends, what matters of them is stored in memory. */
export declare class Session {
    #private;
    /** Name of the conversation. */
    id: string;
    /**
     * @param {import('./client.js').Kioku} client
     * @param {string} id Name of the conversation. No other one has it.
     * @param {SessionOptions} [options]
     */
    constructor(client: import('./client.js').Kioku, id: string, options?: SessionOptions);
    /** Who writes a note now: "tool" if the model has read the result of a tool since the newest message of the user, otherwise "agent". */
    get source(): string;
    /**
     * Prepares a request to the model: it stores memories and makes old messages a summary where that is due, and returns what to send. It does
     * not fail if the service is away: what went wrong goes to onError, and the turn has the system prompt of the one before and no memories.
     * @param {Message[]} messages The conversation, the new message of the user last, or behind it calls of tools and their results. Messages
     *   without an id get one that is made of what they say.
     * @param {Partial<Pick<CheckFlushRequest, 'projectedTokens' | 'transcriptBytes' | 'heartbeat' | 'overflow' | 'forced'>>} [due]
     * @returns {Promise<Turn>}
     */
    before(messages: Message[], due?: Partial<Pick<CheckFlushRequest, 'projectedTokens' | 'transcriptBytes' | 'heartbeat' | 'overflow' | 'forced'>>): Promise<Turn>;
    /**
     * Tells the service of the messages, so that they are stored when the conversation stays idle although nobody ends it.
     * @param {Message[]} messages
     */
    tell(messages: Message[]): Promise<void>;
    /**
     * Stores now what is worth keeping of all messages, and returns the notes.
     * @param {Message[]} messages
     */
    flush(messages: Message[]): Promise<import("../gen/kioku/v1/agent_pb.js").StoredNote[]>;
    /**
     * Ends the conversation: what is not stored is stored. Without a model it stays on disk until there is one.
     * @param {Message[]} messages
     */
    end(messages: Message[]): Promise<import("../gen/kioku/v1/agent_pb.js").EndSessionResponse>;
}
