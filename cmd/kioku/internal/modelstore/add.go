package modelstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"kioku/internal/modelhttp"
)

// Progress is how far the adding of a model is.
type Progress struct {
	// Phase is "download", "copy" or "check".
	Phase string
	// Done and Total are bytes of the current file; Total is negative if it is not known.
	Done, Total int64
}

// Adder adds models to a store.
type Adder struct {
	// Store that the models are added to.
	Store *Store
	// Transport sends the requests; nil means a network of its own.
	Transport http.RoundTripper
	// Offline refuses whatever would have to be downloaded from another machine.
	Offline bool
	// Open opens the model in a folder and tells what it is. A model that it cannot open is not added.
	Open func(ctx context.Context, dir string, m Manifest) (Facts, error)
	// Progress is told how far the work is; nil tells nobody.
	Progress func(Progress)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Hub is the address of the repositories; empty means huggingface.co.
	Hub string
	// Stall is how long a download waits for the next bytes; 0 means a minute.
	Stall time.Duration
	// Pause waits before another try of a download; nil means a timer.
	Pause func(ctx context.Context, d time.Duration) error
}

// Request says which model to add, and how.
type Request struct {
	// Source is a known name, a path, an address, or the name of a repository.
	Source string
	// Dir is the folder that a relative path starts from.
	Dir string
	// Name of the model; empty means that of the source.
	Name string
	// Role of the model; empty means that of the catalog, else Embedder.
	Role Role
	// Replace replaces the model of the same name.
	Replace bool
}

// ErrAdded reports that there is a model of the same name.
var ErrAdded = errors.New("there is a model of this name; --replace replaces it, --name gives another one to this")

// Add adds a model. It returns an error that is ErrAdded if there is one of the same name which is not to be replaced. Whatever
// goes wrong, the store is as it was, but for what was downloaded: a later Add goes on with that.
func (a *Adder) Add(ctx context.Context, req Request) (Model, error) {
	src, err := parseSource(req.Source, req.Dir, cmp.Or(a.Hub, Hub))
	if err != nil {
		return Model{}, err
	}
	name := cmp.Or(req.Name, src.name())
	if err := CheckName(name); err != nil {
		return Model{}, err
	}
	if a.Offline && src.remote() != "" {
		return Model{}, ErrOffline
	}
	unlock, err := a.Store.lock()
	if err != nil {
		return Model{}, err
	}
	defer unlock()
	if !req.Replace && exists(filepath.Join(a.Store.dir, name)) {
		return Model{}, fmt.Errorf("%s: %w", name, ErrAdded)
	}
	m := Manifest{
		Name: name, Role: cmp.Or(req.Role, src.known.Role, Embedder), Source: src.given, Model: src.model(),
		Folder: folderFrom(src.model()), License: src.known.License, Languages: src.known.Languages, Added: a.now().UTC(),
	}
	if err := a.build(ctx, src, m); err != nil {
		return Model{}, err
	}
	return a.Store.Find(name)
}

// build puts a model together in a folder of its own and gives that its name. The caller has the lock. The folder of a download stays
// if something goes wrong, so that a later Add goes on with what is there.
func (a *Adder) build(ctx context.Context, src source, m Manifest) error {
	dir := filepath.Join(a.Store.dir, downloads, fmt.Sprintf("%.16x", sha256.Sum256([]byte(src.base+"@"+src.revision))))
	if src.folder != "" {
		dir = filepath.Join(a.Store.dir, addingPrefix+m.Name)
		defer os.RemoveAll(dir)
	}
	c := &collector{adder: a, src: src, dir: filepath.Join(dir, m.Folder), manifest: &m, network: a.fetcher(filepath.Join(dir, tags))}
	if err := errors.Join(os.MkdirAll(c.dir, 0o700), os.MkdirAll(c.network.tags, 0o700)); err != nil {
		return fmt.Errorf("make a folder for the model: %w", err)
	}
	err := c.collect(ctx)
	if err != nil {
		return err
	}
	a.tell(Progress{Phase: "check", Total: -1})
	if m.Facts, err = a.Open(ctx, c.dir, m); err != nil {
		return fmt.Errorf("the model cannot be used: %w", err)
	}
	if err := errors.Join(os.RemoveAll(c.network.tags), writeManifest(dir, m)); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return a.Store.put(dir, m.Name)
}

func (a *Adder) now() time.Time {
	if a.Now == nil {
		return time.Now()
	}
	return a.Now()
}

func (a *Adder) tell(p Progress) {
	if a.Progress != nil {
		a.Progress(p)
	}
}

// fetcher returns what downloads files; it keeps their tags in a folder.
func (a *Adder) fetcher(tags string) *fetcher {
	f := &fetcher{transport: a.Transport, tags: tags, progress: a.tell, pause: a.Pause, stall: cmp.Or(a.Stall, stallWait)}
	if f.transport == nil {
		f.transport = modelhttp.NewNetwork(modelhttp.NetworkOptions{}).Transport("model download")
	}
	if f.pause == nil {
		f.pause = pause
	}
	return f
}

// pause waits, or returns the error of ctx if that ends before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
