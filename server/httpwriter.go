package server

import (
	"net/http"
	"time"

	"kioku/server/fair"
	"kioku/server/httpapi"
)

// largeWrite is the size of a write from which on it is admitted. What is smaller counts as the buffers of a connection.
const largeWrite = 64 << 10

// patientWriter writes a response to a client that may be slow, but not stop: each write has a time limit. A large write, which
// keeps its bytes in memory until the client has read them, takes of what the client may have in flight.
type patientWriter struct {
	http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	// admit waits until a large write may begin.
	admit func(size int) (*fair.Grant, error)
	// status of the response, 0 before it begins.
	status int
}

func newPatientWriter(w http.ResponseWriter, patience time.Duration) *patientWriter {
	p := &patientWriter{ResponseWriter: w, control: http.NewResponseController(w), patience: patience}
	_ = p.control.SetWriteDeadline(time.Time{}) // that of the request before on this connection
	return p
}

// wait sets the time limit of the next write. If that fails, so does the write.
func (p *patientWriter) wait() { _ = p.control.SetWriteDeadline(time.Now().Add(p.patience)) }

// end sets the time limit of what is still to be written when a handler has returned.
func (p *patientWriter) end() { p.wait() }

// WriteHeader begins the response.
func (p *patientWriter) WriteHeader(code int) {
	if p.status == 0 && code >= http.StatusOK {
		p.status = code
	}
	p.wait()
	p.ResponseWriter.WriteHeader(code)
}

// Write writes a part of the response. If a large response may not begin, the client is answered with the reason instead.
func (p *patientWriter) Write(data []byte) (int, error) {
	if len(data) > largeWrite {
		grant, err := p.admit(len(data))
		if err != nil {
			return 0, p.refuse(err)
		}
		defer grant.Release()
	}
	if p.status == 0 {
		p.status = http.StatusOK
	}
	p.wait()
	return p.ResponseWriter.Write(data)
}

// refuse answers with an error in place of a response that has not begun, and returns the error.
func (p *patientWriter) refuse(err error) error {
	if p.status == 0 {
		for _, name := range []string{"Content-Length", "Content-Encoding", "Etag", "Last-Modified"} {
			p.Header().Del(name)
		}
		httpapi.WriteError(p, err)
	}
	return err
}

// Flush sends what is written.
func (p *patientWriter) Flush() {
	p.wait()
	_ = p.control.Flush() // an error of it is one of the next write too
}

// Unwrap returns the writer below, for http.ResponseController.
func (p *patientWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }
