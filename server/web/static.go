package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"time"
)

//go:embed static
var staticFolder embed.FS

// staticTypes are the types of static files by the end of their names, the same on every machine.
var staticTypes = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

// staticFile returns a file of the page by its name under /static/.
func staticFile(name string) (body []byte, found bool) {
	body, err := staticFolder.ReadFile("static/" + name)
	return body, err == nil
}

// serveStatic serves the files of the page. A browser asks each time and gets 304 while its copy is the current one.
func serveStatic(w http.ResponseWriter, r *http.Request) {
	body, found := staticFile(r.URL.Path[len("/static/"):])
	if !found {
		http.NotFound(w, r)
		return
	}
	sum := sha256.Sum256(body)
	w.Header().Set("Content-Type", staticTypes[path.Ext(r.URL.Path)])
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:12])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
