/** The sessions that a program used last. One that was forgotten is sent whole when it goes on; the service ends it once it is idle. */
export class RecentSessions {
  #sessions = new Map();
  #open;
  #max;

  /** open opens the session of a name; max is the maximum number of sessions. */
  constructor(open, max = 1000) {
    this.#open = open;
    this.#max = max;
  }

  /** How many there are. */
  get size() {
    return this.#sessions.size;
  }

  /** Returns the session with a name. */
  get(id) {
    const session = this.#sessions.get(id) ?? this.#open(id);
    this.#sessions.delete(id); // the latest comes last
    this.#sessions.set(id, session);
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size <= this.#max) break;
      this.#sessions.delete(oldest);
    }
    return session;
  }

  /** Forgets a session. */
  delete(id) {
    this.#sessions.delete(id);
  }
}
