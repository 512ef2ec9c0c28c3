export type Message = import('@bufbuild/protobuf').MessageInitShape<typeof import('../gen/kioku/v1/agent_pb.js').ChatMessageSchema>;
/**
 * A message of a conversation, as the agent sends it to its own model: role "user", "assistant" or "tool", and text.
 * @typedef {import('@bufbuild/protobuf').MessageInitShape<typeof import('../gen/kioku/v1/agent_pb.js').ChatMessageSchema>} Message
 */
/**
 * Returns messages in which each has an id. A message without one gets an id made of its content and of the message before it, so that it
 * has the same one in the next process, and after older messages are gone.
 * @param {Message[]} messages
 * @returns {(Message & {id: string})[]}
 */
export declare function identify(messages: Message[]): (Message & {
    id: string;
})[];
/**
 * Returns the text of the newest message of the user, and its index; -1 if there is none.
 * @param {Message[]} messages
 */
export declare function newestQuestion(messages: Message[]): {
    index: number;
    text: string;
};
/**
 * Returns who writes a note now: "tool" if the model has read the result of a tool since the newest message of the user, otherwise "agent".
 * @param {Message[]} messages
 */
export declare function sourceOf(messages: Message[]): "agent" | "tool";
