/** The sessions that a program used last. One that was forgotten is sent whole when it goes on; the service ends it once it is idle. */
export declare class RecentSessions {
    #private;
    /**
     * @param {(id: string) => import('./session.js').Session} open Opens a session.
     * @param {number} [max] Maximum number of sessions.
     */
    constructor(open: (id: string) => import('./session.js').Session, max?: number);
    /** How many there are. */
    get size(): number;
    /** Returns the session with a name. @param {string} id */
    get(id: string): import("./session.js").Session;
    /** Forgets a session. @param {string} id */
    delete(id: string): void;
}
