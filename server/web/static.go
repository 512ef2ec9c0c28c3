package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"time"
)

//go:embed static
var staticFolder embed.FS

// staticFile is a file of the page with its entity tag.
type staticFile struct {
	body        []byte
	tag         string
	contentType string
}

// statics are the files of the page by their name under /static/.
var statics = readStatics()

func readStatics() map[string]staticFile {
	files := map[string]staticFile{}
	err := fs.WalkDir(staticFolder, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := staticFolder.ReadFile(name)
		sum := sha256.Sum256(body)
		files[name[len("static/"):]] = staticFile{body: body, tag: `"` + hex.EncodeToString(sum[:12]) + `"`, contentType: contentType(name)}
		return err
	})
	if err != nil {
		panic(err) // the folder is part of the program
	}
	return files
}

// contentType returns the type of a static file by its name, the same on every machine.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// hasStatic reports whether there is a static file of this name.
func hasStatic(name string) bool {
	_, ok := statics[name]
	return ok
}

// staticFiles serves the files of the page. A browser asks each time and gets 304 while its copy is the current one.
func staticFiles() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := statics[r.URL.Path[len("/static/"):]]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", f.contentType)
		w.Header().Set("ETag", f.tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
	})
}
