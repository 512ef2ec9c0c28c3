// The packages that the adapters are for, as far as they name them: they come with the program that uses an adapter.
declare module 'ai' {
  export type LanguageModel = any;
  export type LanguageModelMiddleware = any;
  export type ModelMessage = any;
  export type ToolSet = any;
  export const generateText: any, jsonSchema: any, tool: any;
}
declare module '@openai/agents' {
  export type CallModelInputFilter = any;
  export type FunctionTool = any;
  export type Session = any;
  export const MemorySession: any, tool: any;
}
declare module '@langchain/core/messages' {
  export type BaseMessage = any;
  export const AIMessage: any, HumanMessage: any, SystemMessage: any, ToolMessage: any;
}
declare module '@langchain/core/tools' {
  export type StructuredToolInterface = any;
  export const tool: any;
}
declare module '@langchain/core/language_models/chat_models' {
  export type BaseChatModel = any;
}
declare module '@langchain/langgraph' {
  export const BaseStore: new () => any;
}
declare module '@anthropic-ai/claude-agent-sdk' {
  export type Options = any;
}
declare module '@modelcontextprotocol/sdk/server/index.js' {
  export const Server: any;
}
declare module '@modelcontextprotocol/sdk/types.js' {
  export const CallToolRequestSchema: any, ListToolsRequestSchema: any;
}
