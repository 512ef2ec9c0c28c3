package host

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"kioku/memory"
	"kioku/pgstore"
	"kioku/vectors"
)

// stampedSum is the hash of a file that was read with a size and time.
type stampedSum struct {
	size     int64
	modified time.Time
	sum      [sha256.Size]byte
}

// pushFiles puts those files of the folder into a commit that the store lacks: some, or all.
func (o *owned) pushFiles(ctx context.Context, c *pgstore.Change, some, added []string) error {
	root, err := os.OpenRoot(o.m.Workspace())
	if err != nil {
		return fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	}
	defer root.Close()
	if some != nil {
		some = append(some, added...)
	}
	stored, err := c.Sums(ctx, some)
	if err != nil {
		return err
	}
	found := map[string]fs.FileInfo{}
	if some == nil {
		found, err = sharedFiles(root)
	} else {
		for _, p := range some {
			info, failed := root.Stat(filepath.FromSlash(p))
			if failed == nil && isShared(p) {
				found[p] = info
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	}
	var put []pgstore.File
	bytes := 0
	for _, p := range slices.Sorted(maps.Keys(found)) {
		info, known := found[p], o.sums[p]
		if some == nil && known.size == info.Size() && known.modified.Equal(info.ModTime()) && known.sum == stored[p] {
			continue
		}
		data, err := root.ReadFile(filepath.FromSlash(p))
		if err != nil {
			continue // it went, or cannot be read now: the next push looks again
		}
		o.sums[p] = stampedSum{info.Size(), info.ModTime(), sha256.Sum256(data)}
		if o.sums[p].sum == stored[p] {
			continue
		}
		put = append(put, pgstore.File{Path: p, ModTime: info.ModTime(), Data: append([]byte{}, data...)})
		if bytes += len(data); bytes > pushBytes { // others have their turn
			o.rest = true
			return c.Put(ctx, put...)
		}
	}
	for p := range stored {
		if found[p] == nil && o.isGone(ctx, root, p) {
			put = append(put, pgstore.File{Path: p, ModTime: o.c.now()})
		}
	}
	return c.Put(ctx, put...)
}

// isGone reports whether a file that cannot be read was removed. A folder may be away for a while, which the index notices: it keeps its files.
func (o *owned) isGone(ctx context.Context, root *os.Root, p string) bool {
	if _, err := root.Stat(filepath.FromSlash(p)); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err := o.m.Chunks(ctx, p)
	left, unread := fs.ReadDir(root.FS(), ".")
	return errors.Is(err, memory.ErrNotFound) && unread == nil && len(left) > 0
}

// pushVectors puts vectors into a commit that were paid for since the last one that was sent; of many the first, and more has the push go on. If the file
// has no such one any more, it is another file, and all of it is sent.
func (o *owned) pushVectors(ctx context.Context, c *pgstore.Change, last int64) (sent int64, err error) {
	sent = last
	var list []pgstore.Vector
	known, bytes := last == 0, 0
	err = o.m.VectorRows(ctx, max(last-1, 0), func(r vectors.Row) error {
		if !known && r.ID != last {
			return errOtherVectors
		}
		if known = true; r.ID == last {
			return nil
		}
		space, err := json.Marshal(spaceJSON(r.Space))
		list = append(list, pgstore.Vector{Space: string(space), Kind: string(r.Kind), SHA256: slices.Clone(r.Hash[:]), Vector: slices.Clone(r.Vector)})
		if sent, bytes = r.ID, bytes+len(r.Vector); err == nil && bytes > pushBytes {
			err = errEnough
		}
		return err
	})
	if errors.Is(err, errEnough) {
		o.more, err = true, nil
	}
	if errors.Is(err, errOtherVectors) || err == nil && !known {
		return o.pushVectors(ctx, c, 0)
	}
	return sent, errors.Join(err, c.PutVectors(ctx, list))
}

// errOtherVectors ends the reading of a file that is not the one that was sent before, and errEnough that of one with more than a commit takes.
var errOtherVectors, errEnough = errors.New("other vectors"), errors.New("enough")
