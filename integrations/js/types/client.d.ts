import { Session } from './session.js';
export type Fields<D extends import('@bufbuild/protobuf').DescMessage, K extends string> = Omit<import('@bufbuild/protobuf').MessageInitShape<D>, K | '$typeName' | '$unknown'>;
/**
 * The fields of a request that a method of the client does not take as arguments.
 * @template {import('@bufbuild/protobuf').DescMessage} D
 * @template {string} K
 * @typedef {Omit<import('@bufbuild/protobuf').MessageInitShape<D>, K | '$typeName' | '$unknown'>} Fields
 */
/**
 * Returns a client of the memory service. It connects with the first call, and again when the service was restarted.
 * @param {import('./connection.js').ConnectOptions} [options]
 */
export declare function connect(options?: import('./connection.js').ConnectOptions): Kioku;
/** A client of the memory service. */
export declare class Kioku {
    #private;
    /** Where the service is. */
    target: string;
    /** Every call of MemoryService. */
    memory: import("./service.js").Service<import("@bufbuild/protobuf/codegenv2").GenService<{
        memorySearch: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/memory_pb.js").MemorySearchRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").MemorySearchResponseSchema;
        };
        memoryGet: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/memory_pb.js").MemoryGetRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").MemoryGetResponseSchema;
        };
        memoryAppend: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/memory_pb.js").MemoryAppendRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").MemoryAppendResponseSchema;
        };
        memoryUpdate: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/memory_pb.js").MemoryUpdateRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").MemoryUpdateResponseSchema;
        };
        memoryUndo: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/memory_pb.js").MemoryUndoRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").MemoryUndoResponseSchema;
        };
        listRevisions: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/memory_pb.js").ListRevisionsRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").ListRevisionsResponseSchema;
        };
        listFiles: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/memory_pb.js").ListFilesRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").ListFilesResponseSchema;
        };
        listLinks: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/memory_pb.js").ListLinksRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").ListLinksResponseSchema;
        };
        listChunks: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/memory_pb.js").ListChunksRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").ListChunksResponseSchema;
        };
        memoryMap: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/memory_pb.js").MemoryMapRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").MemoryMapResponseSchema;
        };
        activity: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/memory_pb.js").ActivityRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").ActivityResponseSchema;
        };
        explain: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/memory_pb.js").ExplainRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").ExplainResponseSchema;
        };
        status: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/memory_pb.js").StatusRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").StatusResponseSchema;
        };
        estimateEmbedding: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/memory_pb.js").EstimateEmbeddingRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").EstimateEmbeddingResponseSchema;
        };
        sync: {
            methodKind: "server_streaming";
            input: typeof import("../gen/kioku/v1/memory_pb.js").SyncRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").SyncResponseSchema;
        };
        rebuild: {
            methodKind: "server_streaming";
            input: typeof import("../gen/kioku/v1/memory_pb.js").RebuildRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").RebuildResponseSchema;
        };
        watchEvents: {
            methodKind: "server_streaming";
            input: typeof import("../gen/kioku/v1/memory_pb.js").WatchEventsRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").WatchEventsResponseSchema;
        };
        listAgents: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/memory_pb.js").ListAgentsRequestSchema;
            output: typeof import("../gen/kioku/v1/memory_pb.js").ListAgentsResponseSchema;
        };
    }>>;
    /** Every call of AgentService. */
    agents: import("./service.js").Service<import("@bufbuild/protobuf/codegenv2").GenService<{
        assemblePrompt: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/agent_pb.js").AssemblePromptRequestSchema;
            output: typeof import("../gen/kioku/v1/agent_pb.js").AssemblePromptResponseSchema;
        };
        recall: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/agent_pb.js").RecallRequestSchema;
            output: typeof import("../gen/kioku/v1/agent_pb.js").RecallResponseSchema;
        };
        prune: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/agent_pb.js").PruneRequestSchema;
            output: typeof import("../gen/kioku/v1/agent_pb.js").PruneResponseSchema;
        };
        checkFlush: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/agent_pb.js").CheckFlushRequestSchema;
            output: typeof import("../gen/kioku/v1/agent_pb.js").CheckFlushResponseSchema;
        };
        beginFlush: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/agent_pb.js").BeginFlushRequestSchema;
            output: typeof import("../gen/kioku/v1/agent_pb.js").BeginFlushResponseSchema;
        };
        commitFlush: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/agent_pb.js").CommitFlushRequestSchema;
            output: typeof import("../gen/kioku/v1/agent_pb.js").CommitFlushResponseSchema;
        };
        flush: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/agent_pb.js").FlushRequestSchema;
            output: typeof import("../gen/kioku/v1/agent_pb.js").FlushResponseSchema;
        };
        compact: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/agent_pb.js").CompactRequestSchema;
            output: typeof import("../gen/kioku/v1/agent_pb.js").CompactResponseSchema;
        };
        endSession: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/agent_pb.js").EndSessionRequestSchema;
            output: typeof import("../gen/kioku/v1/agent_pb.js").EndSessionResponseSchema;
        };
        beginCompact: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/agent_pb.js").BeginCompactRequestSchema;
            output: typeof import("../gen/kioku/v1/agent_pb.js").BeginCompactResponseSchema;
        };
        commitCompact: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/agent_pb.js").CommitCompactRequestSchema;
            output: typeof import("../gen/kioku/v1/agent_pb.js").CommitCompactResponseSchema;
        };
        listTools: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/agent_pb.js").ListToolsRequestSchema;
            output: typeof import("../gen/kioku/v1/agent_pb.js").ListToolsResponseSchema;
        };
        callTool: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/agent_pb.js").CallToolRequestSchema;
            output: typeof import("../gen/kioku/v1/agent_pb.js").CallToolResponseSchema;
        };
        listTurns: {
            methodKind: "unary";
            input: typeof import("../gen/kioku/v1/agent_pb.js").ListTurnsRequestSchema;
            output: typeof import("../gen/kioku/v1/agent_pb.js").ListTurnsResponseSchema;
        };
    }>>;
    /** @param {import('./connection.js').ConnectOptions} [options] */
    constructor(options?: import('./connection.js').ConnectOptions);
    /**
     * Returns the passages that best answer a query in any language, best first.
     * @param {string} query
     * @param {Fields<typeof import('../gen/kioku/v1/memory_pb.js').MemorySearchRequestSchema, 'query'>} [options]
     */
    search(query: string, options?: Fields<typeof import('../gen/kioku/v1/memory_pb.js').MemorySearchRequestSchema, 'query'>): Promise<import("../gen/kioku/v1/memory_pb.js").MemorySearchResponse>;
    /**
     * Returns lines of a memory file.
     * @param {string} path
     * @param {Fields<typeof import('../gen/kioku/v1/memory_pb.js').MemoryGetRequestSchema, 'path'>} [options]
     */
    get(path: string, options?: Fields<typeof import('../gen/kioku/v1/memory_pb.js').MemoryGetRequestSchema, 'path'>): Promise<import("../gen/kioku/v1/memory_pb.js").MemoryGetResponse>;
    /**
     * Adds a note to today's file, or to MEMORY.md with target "long_term". It returns its place.
     * @param {string} text
     * @param {Fields<typeof import('../gen/kioku/v1/memory_pb.js').MemoryAppendRequestSchema, 'text'>} [options]
     */
    append(text: string, options?: Fields<typeof import('../gen/kioku/v1/memory_pb.js').MemoryAppendRequestSchema, 'text'>): Promise<import("../gen/kioku/v1/memory_pb.js").MemoryAppendResponse>;
    /**
     * Replaces a text of MEMORY.md, or of another file that is not of a day. It returns a revision, for `memory.memoryUndo`.
     * @param {string} oldText Text that occurs once in the file.
     * @param {string} newText Text in its place; empty removes the old one.
     * @param {Fields<typeof import('../gen/kioku/v1/memory_pb.js').MemoryUpdateRequestSchema, 'oldText' | 'newText'>} [options]
     */
    update(oldText: string, newText: string, options?: Fields<typeof import('../gen/kioku/v1/memory_pb.js').MemoryUpdateRequestSchema, 'oldText' | 'newText'>): Promise<import("../gen/kioku/v1/memory_pb.js").MemoryUpdateResponse>;
    /**
     * Returns what memory has about a message: `block` for a prompt, empty if there is nothing, and a report.
     * @param {string} message
     * @param {Fields<typeof import('../gen/kioku/v1/agent_pb.js').RecallRequestSchema, 'message'>} [options]
     */
    recall(message: string, options?: Fields<typeof import('../gen/kioku/v1/agent_pb.js').RecallRequestSchema, 'message'>): Promise<import("../gen/kioku/v1/agent_pb.js").RecallResponse>;
    /**
     * Returns the system prompt of a session, and what changes from turn to turn: `turnBlock`, a text block for the message of the user.
     * @param {string} message
     * @param {Fields<typeof import('../gen/kioku/v1/agent_pb.js').AssemblePromptRequestSchema, 'message'>} [options]
     */
    prompt(message: string, options?: Fields<typeof import('../gen/kioku/v1/agent_pb.js').AssemblePromptRequestSchema, 'message'>): Promise<import("../gen/kioku/v1/agent_pb.js").AssemblePromptResponse>;
    /**
     * Returns the memory tools of a conversation, for a model of any provider.
     * @param {import('./tools.js').ToolOptions} [options]
     */
    memoryTools(options?: import('./tools.js').ToolOptions): Promise<import("./tools.js").MemoryTool[]>;
    /**
     * Returns a conversation whose messages are stored in memory before they leave its window, and when it ends.
     * @param {string} id Name of the conversation. No other one has it.
     * @param {import('./session.js').SessionOptions} [options]
     */
    session(id: string, options?: import('./session.js').SessionOptions): Session;
    /** Closes the connection. A program may also end without it. */
    close(): void;
}
