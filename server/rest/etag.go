package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

// serveTagged lets answer write a response, and adds an ETag to it if it is no error. If the request has the tag already, the
// response is 304 without a body.
//
// The tag is a hash of the body. The generation of the index would not do: ages count into scores, and the provider, the
// settings and the clock change an answer without a new generation. What always changes, the time that a search took, does
// not count: such a tag is weak.
func serveTagged(w http.ResponseWriter, r *http.Request, answer func(http.ResponseWriter)) {
	held := &heldResponse{ResponseWriter: w}
	answer(held)
	if held.status != 0 && held.status != http.StatusOK {
		w.WriteHeader(held.status)
		w.Write(held.body.Bytes())
		return
	}
	tag := etagOf(held.body.Bytes())
	header := w.Header()
	header.Set("ETag", tag)
	header.Set("Cache-Control", "private, no-cache")
	header.Set("Vary", "Authorization, Cookie")
	if matchesTag(r.Header.Values("If-None-Match"), tag) {
		header.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Length", strconv.Itoa(held.body.Len()))
	w.Write(held.body.Bytes())
}

// heldResponse keeps a response until it is known whether the client has it.
type heldResponse struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader keeps the status.
func (h *heldResponse) WriteHeader(status int) { h.status = status }

// Write keeps a part of the body.
func (h *heldResponse) Write(p []byte) (int, error) { return h.body.Write(p) }

// tookField is how the JSON of a response begins to say how long it took, the last of its fields but for booleans.
var tookField = []byte(`"took":"`)

// etagOf returns the tag of a body.
func etagOf(body []byte) string {
	weak := ""
	sum := sha256.New()
	if before, after, ok := bytes.Cut(body, tookField); ok {
		weak = "W/"
		sum.Write(before)
		_, body, _ = bytes.Cut(after, []byte(`"`))
	}
	sum.Write(body)
	return weak + `"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"`
}

// matchesTag reports whether one of the tags of a request is the tag of the response, by the weak comparison of RFC 9110.
func matchesTag(headers []string, tag string) bool {
	for _, header := range headers {
		for one := range strings.SplitSeq(header, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}
