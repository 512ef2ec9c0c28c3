/**
 * Returns the sessions that a program used last, at most max; open opens the one of a name. One that was forgotten is sent whole when it goes
 * on; the service ends it once it is idle.
 */
export function recentSessions(open, max = 1000) {
  const sessions = new Map();
  return {
    get(id) {
      const session = sessions.get(id) ?? open(id);
      sessions.delete(id); // the latest comes last
      sessions.set(id, session);
      if (sessions.size > max) sessions.delete(sessions.keys().next().value);
      return session;
    },
    delete: (id) => sessions.delete(id),
  };
}
