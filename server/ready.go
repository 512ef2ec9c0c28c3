package server

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	alivePath   = "/healthz"
	readyPath   = "/readyz"
	profilePath = "/debug/pprof/"
	// readinessAge is how long an answer of readyPath counts, and readinessTimeout how long it may take.
	readinessAge     = time.Second
	readinessTimeout = 2 * time.Second
)

func isHealthPath(path string) bool { return path == alivePath || path == readyPath }

// health is the answer to a question for health.
type healthAnswer struct {
	Status  string   `json:"status"`
	Reasons []string `json:"reasons,omitempty"`
}

// serveHealth answers whether the process is alive, or whether every agent can be served.
func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		writeJSON(w, http.StatusMethodNotAllowed, healthAnswer{Status: "use GET"})
		return
	}
	if r.URL.Path == alivePath {
		writeJSON(w, http.StatusOK, healthAnswer{Status: "alive"})
		return
	}
	from, _ := httpOrigin(r.Context())
	who, _, err := s.authenticate(from, "")
	if err != nil {
		who = caller{} // health is for everybody, names are not
	}
	reasons := s.unready(who)
	if len(reasons) > 0 {
		writeJSON(w, http.StatusServiceUnavailable, healthAnswer{"not ready", reasons})
		return
	}
	writeJSON(w, http.StatusOK, healthAnswer{Status: "ready"})
}

// readiness is why agents cannot be served now.
type readiness struct {
	mu sync.Mutex
	// looked is when the indexes were looked at, and troubles what was found then, by agent. Guarded by mu.
	looked   time.Time
	troubles map[string]string
}

// unready returns why the server is not ready, nothing if it is. It names the agents that the caller may reach.
func (s *Server) unready(who caller) []string {
	if s.running.isStopping() {
		return []string{"the service is shutting down"}
	}
	troubles := s.readiness.look(s.opt.Agents)
	var reasons []string
	for _, id := range slices.Sorted(maps.Keys(troubles)) {
		name := "an agent"
		if who.reaches(id) {
			name = "agent " + id
		}
		reasons = append(reasons, name+": "+troubles[id])
	}
	return reasons
}

// look returns the troubles of the indexes, which are looked at again after readinessAge.
func (r *readiness) look(agents map[string]Memory) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.looked) < readinessAge {
		return r.troubles
	}
	ctx, cancel := context.WithTimeout(context.Background(), readinessTimeout)
	defer cancel()
	r.troubles = map[string]string{}
	for id, m := range agents {
		switch state, err := m.IndexStats(ctx); {
		case err != nil:
			r.troubles[id] = "the index cannot be read; kioku status tells why"
		case state.LastSync.IsZero():
			r.troubles[id] = "the first sync is not done"
		}
	}
	r.looked = time.Now()
	return r.troubles
}

// serveProfile answers with profiles of the process, only on listeners of the user who runs it.
func (s *Server) serveProfile(w http.ResponseWriter, r *http.Request) {
	from, _ := httpOrigin(r.Context())
	if !from.connection.trusted {
		notFound(w, r)
		return
	}
	switch strings.TrimPrefix(r.URL.Path, profilePath) {
	case "cmdline":
		pprof.Cmdline(w, r)
	case "profile":
		pprof.Profile(w, r)
	case "symbol":
		pprof.Symbol(w, r)
	case "trace":
		pprof.Trace(w, r)
	default:
		pprof.Index(w, r)
	}
}

// writeJSON answers with a JSON object that no cache keeps.
func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(body) // an error is that of a client who has gone
}
