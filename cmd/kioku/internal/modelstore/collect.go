package modelstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kioku/cmd/kioku/internal/disk"
)

// collector puts the files of one model into a folder.
type collector struct {
	adder    *Adder
	src      source
	dir      string
	manifest *Manifest
	network  *fetcher
}

// collect gets the files from where they are.
func (c *collector) collect(ctx context.Context) error {
	from := c.fromRepository
	if c.src.folder != "" {
		from = c.fromFolder
	}
	err := from(ctx)
	slices.SortFunc(c.manifest.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return err
}

// fromRepository downloads the files, the small ones first.
func (c *collector) fromRepository(ctx context.Context) error {
	for _, name := range append(slices.Clone(optionalNames), tokenizerName) {
		err := c.download(ctx, "", name, "")
		if err != nil && (!errors.Is(err, ErrNoFile) || name == tokenizerName) {
			return c.explain(ctx, name, err)
		}
	}
	return c.explain(ctx, weightsName, c.download(ctx, "", weightsName, c.src.known.Weights))
}

// explain says what it means that a repository lacks a file.
func (c *collector) explain(ctx context.Context, name string, err error) error {
	if !errors.Is(err, ErrNoFile) {
		return err
	}
	if err := c.download(ctx, staticModule+"/", name, ""); !errors.Is(err, ErrNoFile) {
		return err
	}
	return fmt.Errorf("%w: the repository %s has no %s at the revision %s, or there is no such repository; only models that are published as "+
		"model.safetensors and tokenizer.json can be used", ErrNoFile, c.src.base, name, c.src.revision)
}

// download downloads one file of a repository into the model.
func (c *collector) download(ctx context.Context, folder, name, want string) error {
	to := filepath.Join(c.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	got, err := c.network.file(ctx, c.src.base+"/resolve/"+c.src.revision+"/"+folder+name, to, want)
	if errors.Is(err, ErrNoFile) {
		_ = os.Remove(to) // an earlier Add may have found one
	}
	if err != nil {
		return err
	}
	c.manifest.Revision = cmp.Or(got.revision, c.manifest.Revision, c.src.known.Revision)
	c.manifest.Files = append(c.manifest.Files, File{Path: name, Bytes: got.bytes, SHA256: got.sha256, Verified: want+got.announced != ""})
	return nil
}

// fromFolder copies the files of the model in a folder.
func (c *collector) fromFolder(ctx context.Context) error {
	files, err := pick(c.src.folder)
	if err != nil {
		return fmt.Errorf("%s: %w", c.src.given, err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := c.copy(ctx, files[name], name); err != nil {
			return err
		}
	}
	return nil
}

// copy copies a file under a name, flushes it to the disk, and records it in the manifest.
func (c *collector) copy(ctx context.Context, from, name string) error {
	info, err := os.Stat(from) // before it is opened: a named pipe would wait for a writer
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", from)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	to := filepath.Join(c.dir, filepath.FromSlash(name))
	if err := errors.Join(disk.CheckSpace(c.dir, info.Size()), os.MkdirAll(filepath.Dir(to), 0o700)); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	h := sha256.New()
	reader := &disk.Reader{Context: ctx, From: in, Each: func(n int64) { c.adder.tell(Progress{Phase: "copy", Done: n, Total: info.Size()}) }}
	n, err := io.Copy(io.MultiWriter(out, h), reader)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	c.manifest.Files = append(c.manifest.Files, File{Path: name, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))})
	return nil
}
