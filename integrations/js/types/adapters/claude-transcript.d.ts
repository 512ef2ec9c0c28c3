export type Message = import('../messages.js').Message;
/**
 * Returns what the user and the model said in a transcript, without tools and what the program put in. A line that is not understood, such as
 * a last one that is being written, is left out.
 * @param {string} jsonl
 * @returns {Message[]}
 */
export declare function readTranscript(jsonl: string): Message[];
/**
 * Returns what was said in a transcript file; nothing if there is no such file yet.
 * @param {string} path
 */
export declare function readTranscriptFile(path: string): ({
    readonly $typeName?: undefined;
    id?: string | undefined;
    role?: string | undefined;
    text?: string | undefined;
    toolCalls?: ({
        readonly $typeName?: undefined;
        id?: string | undefined;
        name?: string | undefined;
        input?: string | undefined;
    } | import("../../gen/kioku/v1/agent_pb.js").ToolCall)[] | undefined;
    toolCallId?: string | undefined;
    toolName?: string | undefined;
    failed?: boolean | undefined;
    imageCount?: number | undefined;
    author?: ({
        readonly $typeName?: undefined;
        id?: string | undefined;
        name?: string | undefined;
        isOwner?: boolean | undefined;
    } | import("../../gen/kioku/v1/memory_pb.js").Author) | undefined;
    channel?: string | undefined;
    throughId?: string | undefined;
} | import("../../gen/kioku/v1/agent_pb.js").ChatMessage)[];
