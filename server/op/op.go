// Package op describes an operation once: what it is called, where it is over HTTP, which right it needs, what it takes and what it
// gives. Its handler, its client, its schemas and its flags come from that description.
package op

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"reflect"
	"strings"

	"kioku/memory"
)

// Op is an operation with one answer. In is a struct whose JSON members are what a request may name; Out is what is answered, as JSON.
type Op[In, Out any] struct {
	// Name are the words of its command: "council show".
	Name string
	// Route is a method and a pattern of http.ServeMux; its wildcards are members of In.
	Route string
	// Right is what a caller needs; empty if anybody may call.
	Right string
	// Doc says what it does. The first sentence is a summary.
	Doc string
	// Do does it.
	Do func(context.Context, In) (Out, error)
}

// New returns an operation.
func New[In, Out any](name, route, right, doc string, do func(context.Context, In) (Out, error)) Op[In, Out] {
	return Op[In, Out]{name, route, right, doc, do}
}

// Stream is an operation whose answer has many parts, and may have no end.
type Stream[In, Out any] struct {
	// Name, Route, Right and Doc are as those of Op.
	Name, Route, Right, Doc string
	// Do does it. An error is the last part.
	Do func(context.Context, In) iter.Seq2[Out, error]
}

// NewStream returns an operation whose answer has many parts.
func NewStream[In, Out any](name, route, right, doc string, do func(context.Context, In) iter.Seq2[Out, error]) Stream[In, Out] {
	return Stream[In, Out]{name, route, right, doc, do}
}

// Any is an operation of any types: an Op or a Stream.
type Any interface {
	// About describes it.
	About() About
	// Run does it: in is of the type In, and what is yielded of the type Out.
	Run(ctx context.Context, in any) iter.Seq2[any, error]
	// Via returns the operation that asks whoever f reaches to do it.
	Via(f Forward) Any
	serve(w http.ResponseWriter, r *http.Request, in any) error
}

// About is what there is to know of an operation without its types.
type About struct {
	// Name, Route, Right and Doc are as those of Op.
	Name, Route, Right, Doc string
	// In and Out are the types of request and answer.
	In, Out reflect.Type
	// Stream reports that there are many answers.
	Stream bool
}

// Method returns the HTTP method.
func (a About) Method() string {
	method, _, _ := strings.Cut(a.Route, " ")
	return method
}

// Path returns the pattern of the path.
func (a About) Path() string {
	_, path, _ := strings.Cut(a.Route, " ")
	return path
}

// InBody reports whether a request is JSON in the body, and not a query.
func (a About) InBody() bool { return a.Method() != http.MethodGet && a.Method() != http.MethodDelete }

// About implements Any.
func (o Op[In, Out]) About() About {
	return About{o.Name, o.Route, o.Right, o.Doc, reflect.TypeFor[In](), reflect.TypeFor[Out](), false}
}

// About implements Any.
func (s Stream[In, Out]) About() About {
	return About{s.Name, s.Route, s.Right, s.Doc, reflect.TypeFor[In](), reflect.TypeFor[Out](), true}
}

// Forward says which operations are done by another service.
type Forward struct {
	// Reach checks a request and completes it (in points to it), and returns what reaches the other service, or nil if this one does it.
	Reach func(ctx context.Context, a About, in any) (http.RoundTripper, error)
	// Failed returns what a caller is told about an error of the other service, and whether this one is to do it instead.
	Failed func(a About, err error) (here bool, failed error)
}

// Via implements Any.
func (o Op[In, Out]) Via(f Forward) Any {
	return New(o.Name, o.Route, o.Right, o.Doc, func(ctx context.Context, in In) (out Out, err error) {
		conn, err := f.Reach(ctx, o.About(), &in)
		if err != nil {
			return out, err
		}
		if conn != nil {
			if out, err = o.Call(ctx, conn, in); err == nil {
				return out, nil
			}
			if here, err := f.Failed(o.About(), err); !here || ctx.Err() != nil {
				return out, err
			}
		}
		return o.Do(ctx, in)
	})
}

// Via implements Any.
func (s Stream[In, Out]) Via(f Forward) Any {
	return NewStream(s.Name, s.Route, s.Right, s.Doc, func(ctx context.Context, in In) iter.Seq2[Out, error] {
		return func(yield func(Out, error) bool) {
			var none Out
			fail := func(err error) error {
				if err != nil {
					_, err = f.Failed(s.About(), err)
				}
				return err
			}
			conn, err := f.Reach(ctx, s.About(), &in)
			if err != nil {
				yield(none, err)
				return
			}
			if conn == nil {
				s.Do(ctx, in)(yield)
				return
			}
			parts, err := s.Open(ctx, conn, in)
			if err != nil {
				yield(none, fail(err))
				return
			}
			Ready(ctx)
			for part, err := range parts {
				if !yield(part, fail(err)) {
					return
				}
			}
		}
	})
}

// Around does what a server does around an operation: it finds out who calls, admits the call, runs it, and answers with its error.
type Around func(w http.ResponseWriter, r *http.Request, a About, in any, run func(context.Context) error)

// Handler returns the handler of operations. Requests that none of them takes are for the mux's caller to answer.
func Handler(mux *http.ServeMux, around Around, refuse func(http.ResponseWriter, *http.Request, error), ops ...Any) {
	for _, o := range ops {
		a := o.About()
		mux.HandleFunc(a.Route, func(w http.ResponseWriter, r *http.Request) {
			if a.Stream && r.Method == http.MethodHead {
				refuse(w, r, noRoute(w, r, ops))
				return
			}
			in := reflect.New(a.In)
			if err := decode(r, a, in.Elem()); err != nil {
				refuse(w, r, err)
				return
			}
			around(w, r, a, in.Interface(), func(ctx context.Context) error {
				return o.serve(w, r.WithContext(ctx), in.Elem().Interface())
			})
		})
	}
}

// serve implements Any.
func (o Op[In, Out]) serve(w http.ResponseWriter, r *http.Request, in any) error {
	out, err := o.Do(r.Context(), in.(In))
	if err != nil {
		return err
	}
	return writeAnswer(w, r, out)
}

// serve implements Any.
func (s Stream[In, Out]) serve(w http.ResponseWriter, r *http.Request, in any) error {
	return writeParts(w, r, func(ctx context.Context) iter.Seq2[any, error] { return s.Run(ctx, in) })
}

// Run implements Any.
func (o Op[In, Out]) Run(ctx context.Context, in any) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) { yield(o.Do(ctx, in.(In))) }
}

// Run implements Any.
func (s Stream[In, Out]) Run(ctx context.Context, in any) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for part, err := range s.Do(ctx, in.(In)) {
			if !yield(part, err) {
				return
			}
		}
	}
}

// Call asks whoever conn reaches to do it.
func (o Op[In, Out]) Call(ctx context.Context, conn http.RoundTripper, in In) (out Out, err error) {
	resp, err := send(ctx, conn, o.About(), in, jsonType)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return out, cmp.Or(ctx.Err(), errors.Join(memory.ErrUnreachable, err))
	}
	return out, unmarshal(body, &out)
}

// Call asks whoever conn reaches to do it.
func (s Stream[In, Out]) Call(ctx context.Context, conn http.RoundTripper, in In) iter.Seq2[Out, error] {
	return func(yield func(Out, error) bool) {
		parts, err := s.Open(ctx, conn, in)
		if err != nil {
			var none Out
			yield(none, err)
			return
		}
		parts(yield)
	}
}

// Open is Call for a stream of which nothing is missed from the time on at which Open returns. The parts must be read, or ctx end.
func (s Stream[In, Out]) Open(ctx context.Context, conn http.RoundTripper, in In) (iter.Seq2[Out, error], error) {
	resp, err := send(ctx, conn, s.About(), in, linesType)
	if err != nil {
		return nil, err
	}
	return func(yield func(Out, error) bool) {
		defer resp.Body.Close()
		for line, err := range lines(resp.Body) {
			var out Out
			if err == nil {
				err = partOf(line, &out)
			} else {
				err = cmp.Or(ctx.Err(), err)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}, nil
}
