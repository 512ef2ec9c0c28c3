package server

import (
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"kioku/internal/trace"
	"kioku/memory"
)

// Observer is told of all calls. Its methods are called by many goroutines and must not block.
type Observer interface {
	// CallBegun is told the full method of a call that has arrived.
	CallBegun(method string)
	// CallEnded is told the outcome of a call.
	CallEnded(CallRecord)
}

// Auditor records calls for the owner of the server.
type Auditor interface {
	// RecordCall is told the outcome of a call. It must not block.
	RecordCall(CallRecord)
	// Err returns why calls cannot be recorded now, nil if they can, and whether they are to be refused for that.
	Err() (err error, refuse bool)
}

// CallRecord describes a call whose outcome is known. It contains no text of a request or a response.
type CallRecord struct {
	// Start is when the call arrived.
	Start time.Time
	// Took is how long the call took.
	Took time.Duration
	// Admitted reports that the call was let in.
	Admitted bool
	// Waited is how long the call waited to be let in.
	Waited time.Duration
	// RequestID of the call, see [RequestID].
	RequestID string
	// Method is the name of an operation, or the full method of gRPC: "/kioku.v1.MemoryService/MemorySearch".
	Method string
	// Stream reports that the method has many responses.
	Stream bool
	// Caller is the name of the token or certificate, and Credential is "token" or "certificate"; empty if none was needed.
	Caller, Credential string
	// From is the other end of the connection: a process with its user, an address, or "this process".
	From string
	// Agent is the id of the agent that the request names, or that the call was for; empty if there is none.
	Agent string
	// Agents are those that the call was allowed to reach, sorted; nil if it reached none.
	Agents []string
	// Write reports that the call needed the right to write.
	Write bool
	// Code of the outcome.
	Code codes.Code
}

// Reached returns Agent if the call was allowed to reach it, else "".
func (r CallRecord) Reached() string {
	if slices.Contains(r.Agents, r.Agent) {
		return r.Agent
	}
	return ""
}

// begun tells the observers of a call that has arrived, and begins its span.
func (s *Server) begun(ctx context.Context, c *call) (context.Context, trace.Span) {
	for _, o := range s.opt.Observers {
		o.CallBegun(c.method)
	}
	if s.opt.Tracer == nil {
		return ctx, trace.Span{}
	}
	md, _ := metadata.FromIncomingContext(ctx)
	return s.opt.Tracer.Begin(trace.FromMetadata(ctx, md), strings.TrimPrefix(c.method, "/"))
}

// ended logs the outcome of a call, tells the observers, and ends its span.
func (s *Server) ended(ctx context.Context, c *call, start time.Time, span trace.Span, err error) {
	record := c.record(ctx, start, err)
	s.logCall(ctx, c, start, err)
	s.slow.add(record)
	for _, o := range s.opt.Observers {
		o.CallEnded(record)
	}
	if s.opt.Audit != nil {
		s.opt.Audit.RecordCall(record)
	}
	span.Name("rpc.grpc.status_code", record.Code.String())
	span.Name("kioku.agent", record.Agent)
	span.Name("kioku.request_id", record.RequestID)
	span.End(err)
}

// errUnrecorded is why calls are refused while they cannot be recorded.
var errUnrecorded = retryable(codes.Unavailable, "calls are refused because they cannot be recorded (audit.required); the log of the service says why", retryPause)

// checkAudit returns an error if calls are refused because they cannot be recorded. Health checks are not recorded.
func (s *Server) checkAudit(c *call) error {
	if s.opt.Audit == nil || strings.HasPrefix(c.method, healthService) {
		return nil
	}
	if _, refuse := s.opt.Audit.Err(); refuse {
		return errUnrecorded
	}
	return nil
}

// degradedAudit says in a status that calls are not recorded; nothing if they are.
func (s *Server) degradedAudit() []memory.Degradation {
	if s.opt.Audit == nil {
		return nil
	}
	err, _ := s.opt.Audit.Err()
	if err == nil {
		return nil
	}
	return []memory.Degradation{{Code: memory.AuditFailing, Text: "calls are not recorded in the audit log: " + clip(err.Error(), maxError)}}
}

// record describes the call and its outcome.
func (c *call) record(ctx context.Context, start time.Time, err error) CallRecord {
	c.mu.Lock()
	defer c.mu.Unlock()
	agents := slices.Sorted(slices.Values(c.agents))
	return CallRecord{
		RequestID: c.requestID, Start: start, Took: time.Since(start), Admitted: c.grant != nil, Waited: c.waited, Method: c.method, Stream: c.stream, Caller: c.caller.name,
		Credential: c.credential.kind(), From: c.connection.user(), Agent: c.agent, Agents: slices.Compact(agents), Write: c.writes, Code: status.Code(err),
	}
}
