import { BaseStore } from '@langchain/langgraph';
/**
 * A store of LangGraph whose items are notes: `memory/store/NAMESPACE/KEY.md`, with the value as front matter and its texts below it, so that
 * people read and correct them, and recall finds them. It writes to the workspace, so it runs on the machine of the service.
 */
export declare class KiokuStore extends BaseStore {
    #private;
    /** @param {import('../client.js').Kioku} kioku */
    constructor(kioku: import('../client.js').Kioku);
    /** @param {any[]} operations @returns {Promise<any>} */
    batch(operations: any[]): Promise<any>;
}
