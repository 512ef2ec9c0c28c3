import { BaseStore } from '@langchain/langgraph';
/**
 * A store of LangGraph whose items are notes: `memory/store/NAMESPACE/KEY.md`, where people read and correct them and recall finds them. One with
 * `index: false` ends in .json, and is not indexed. The store writes to the workspace, so it runs on the machine of the service. It shares
 * its items with the store of Kioku's Python package. The service does not see what is written: secrets are not left out, as they are of notes.
 */
export declare class KiokuStore extends BaseStore {
    #private;
    /** @param {import('../client.js').Kioku} kioku */
    constructor(kioku: import('../client.js').Kioku);
    /** @param {any[]} operations @returns {Promise<any>} */
    batch(operations: any[]): Promise<any>;
}
