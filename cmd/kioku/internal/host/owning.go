package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"kioku/internal/files"
	"kioku/memory"
	"kioku/pgstore"
)

// own makes this folder the one of the agent, if it is not.
func (o *owned) own(ctx context.Context) (err error) {
	if o.epoch.Load() != 0 {
		return nil
	}
	owner, file := ownerOf(o.c.node.Name, o.m.Workspace()), ownerRecord(o.c.dir, o.m.Agent(), o.m.Workspace())
	record, err := readRecord(file)
	if err != nil {
		return err
	}
	if record.Written > 0 && o.isEmpty() {
		return fmt.Errorf("%w: %s is empty, although it had notes: is its disk mounted?", memory.ErrUnavailable, o.m.Workspace())
	}
	epoch, err := o.c.store.Own(ctx, o.m.Agent(), owner, record.Epoch, record.Written, leaseTime)
	if errors.Is(err, pgstore.ErrFenced) && record.Epoch == 0 && !o.compared {
		o.compared = true // a former owner stays one
		if a, whole := o.isWhole(ctx); whole && (!a.Leased || a.Owner == owner) {
			epoch, err = o.c.store.Own(ctx, o.m.Agent(), owner, a.Epoch, a.Written, leaseTime)
		}
	}
	o.fenced.Store(errors.Is(err, pgstore.ErrFenced))
	if o.fenced.Load() {
		return fmt.Errorf("%w: %w, or this one lacks what was written since; it stays as it is. To take the agent back, stop kioku serve, run kioku cluster adopt %s NEWFOLDER, and bring over what was edited here", memory.ErrUnreachable, err, o.m.Agent())
	}
	if err == nil {
		record.Epoch = epoch
		err = record.save(file)
	}
	if err == nil {
		o.epoch.Store(epoch)
	}
	return err
}

// isWhole reports whether the folder has all that the store has of the agent, which it may have without a record of that, and returns the agent.
func (o *owned) isWhole(ctx context.Context) (a pgstore.Agent, whole bool) {
	var sums map[string][sha256.Size]byte
	err := o.c.store.Since(ctx, o.m.Agent(), 0, func(ctx context.Context, r pgstore.Reading) (err error) {
		a = r.Agent
		sums, err = r.Sums(ctx)
		return err
	})
	root, unread := os.OpenRoot(o.m.Workspace())
	if err != nil || unread != nil {
		return a, false
	}
	defer root.Close()
	for p, sum := range sums {
		if data, err := root.ReadFile(filepath.FromSlash(p)); err != nil || sha256.Sum256(data) != sum {
			return a, false
		}
	}
	return a, len(sums) > 0
}

// isEmpty reports whether the folder has nothing that a cluster shares.
func (o *owned) isEmpty() bool {
	root, err := os.OpenRoot(o.m.Workspace())
	if err != nil {
		return true
	}
	defer root.Close()
	all, err := sharedFiles(root)
	return err == nil && len(all) == 0
}

// ownerOf names the owner of an agent: a folder of a node.
func ownerOf(node, workspace string) string {
	sum := sha256.Sum256([]byte(workspace))
	return node + "/" + hex.EncodeToString(sum[:4])
}

// ownerRecord is the file that says what a folder had of an agent when it was last its owner's.
func ownerRecord(dir, agent, workspace string) string {
	return filepath.Join(dir, "owner-"+agent+"-"+filepath.Base(ownerOf("", workspace))+".epoch")
}

// owning is what a folder had when it was last that of an agent. A folder without it is compared with the store; see isWhole.
type owning struct {
	// Epoch of the owner, and Written is the generation of its last commit, or of the one before if that has failed.
	Epoch   int64 `json:"epoch"`
	Written int64 `json:"written"`
	// Sent is the last vector that the store has.
	Sent int64 `json:"sent"`
	// Adopted reports that the vectors of the store are still to be taken.
	Adopted bool `json:"adopted,omitempty"`
}

// adoptVectors takes the vectors of an agent that was adopted, so that nothing is embedded again.
func (o *owned) adoptVectors(ctx context.Context) error {
	file := ownerRecord(o.c.dir, o.m.Agent(), o.m.Workspace())
	record, err := readRecord(file)
	if err != nil || !record.Adopted {
		return err
	}
	ctx, done := context.WithTimeout(ctx, pushTime)
	defer done()
	err = o.c.store.Since(ctx, o.m.Agent(), 0, func(ctx context.Context, r pgstore.Reading) error { return takeVectors(ctx, r, o.m) })
	if err != nil {
		return err
	}
	record.Adopted = false
	return record.save(file)
}

// readRecord reads it; none is that of a folder which was never an agent's.
func readRecord(file string) (o owning, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	return o, err
}

// save writes it so that it survives a loss of power.
func (o owning) save(file string) error {
	text, err := json.Marshal(o)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer root.Close()
	return files.Write(root, filepath.Base(file), text, 0o600)
}
