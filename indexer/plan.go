package indexer

import (
	"cmp"
	"io/fs"
	"slices"
	"time"

	"kioku/internal/files"
	"kioku/internal/text"
)

// racyWindow is the minimum age of the times of a file that can be trusted. File systems have clocks that tick every two
// seconds at worst, and a second edit within one tick changes neither the time nor, perhaps, the size.
const racyWindow = 2 * time.Second

// statEntry is what this process knows of a file beyond what the index contains.
type statEntry struct {
	size, stamp int64
	mtime       time.Time
	// hash is the content in the index, and readAt when the file was read to find that out.
	hash   Hash
	readAt time.Time
}

// sameAs reports whether a file has this size, time and stamp, as far as they are known.
func (e statEntry) sameAs(info fs.FileInfo) bool {
	return e.size == info.Size() && e.mtime.Equal(info.ModTime()) && (e.stamp == 0 || e.stamp == files.Stamp(info))
}

// trusted reports whether the file was read so long after it was written that its time can be trusted.
func (e statEntry) trusted() bool { return e.readAt.Sub(e.mtime) >= racyWindow }

// fileTask is a file that a sync may have to write. The scan finds it, plan selects it, and readFile reads it.
type fileTask struct {
	foundFile
	// stored is what the index contains of the file; nil if it does not have the file.
	stored *Stored
	// differs is true if the scan shows that the file is not as it was indexed: it is new, gone, or has another size or time.
	differs bool
	// file is what the index must contain, unless it is unchanged or err is set.
	file File
	// readAt is when the file was about to be read; contentRead is true if its content was read.
	readAt      time.Time
	contentRead bool
	// unchanged is true if the index has this content already.
	unchanged bool
	// err is why nothing is known of the file, so that the index keeps what it has; errMoved if it moved.
	err error
}

func newTask(f *foundFile, st Stored, known bool) *fileTask {
	t := &fileTask{foundFile: *f}
	if known {
		t.stored = &st
	}
	t.differs = !known || f.info == nil || !st.entry().sameAs(f.info)
	return t
}

// plan compares a scan with the index and returns the files that must be read, after those that must be removed.
func (r *syncRun) plan(s *scan, stored map[string]Stored) []*fileTask {
	var tasks []*fileTask
	both, now := 0, r.opt.Now()
	for i := range s.files {
		f := &s.files[i]
		st, known := stored[f.path]
		if known {
			both++
		}
		if !r.rebuilds && (r.deferred(f, st) || known && r.unchanged(f, st, now)) {
			continue
		}
		tasks = append(tasks, newTask(f, st, known))
	}
	sortTasks(tasks)
	if both < len(stored) {
		tasks = append(r.removals(s, stored), tasks...)
	}
	if r.req.full() {
		for name := range r.stats {
			if !s.byPath[name] && !s.keeps(name) {
				delete(r.stats, name)
			}
		}
	}
	return tasks
}

// removals returns the files of the index that the scan did not find, or that the options do not include any more.
func (r *syncRun) removals(s *scan, stored map[string]Stored) []*fileTask {
	scope := map[string]bool{}
	for _, p := range r.req.paths {
		scope[r.layout.name(p)] = true
	}
	var tasks []*fileTask
	for name, st := range stored {
		if s.byPath[name] || !r.inScope(name, scope) || s.keeps(name) {
			continue
		}
		tasks = append(tasks, &fileTask{foundFile: foundFile{path: name}, stored: &st, differs: true, file: File{Path: name, Gone: true}})
	}
	sortTasks(tasks)
	return tasks
}

// contentMatters reports whether the content of the file must be written, and not only that it is gone.
func (t *fileTask) contentMatters() bool { return !t.file.Gone }

func sortTasks(tasks []*fileTask) {
	slices.SortFunc(tasks, func(a, b *fileTask) int { return cmp.Compare(a.path, b.path) })
}

// unchanged reports whether it is certain, without reading the file, that the index has its content.
func (r *syncRun) unchanged(f *foundFile, st Stored, now time.Time) bool {
	if st.Source != f.source {
		return false
	}
	if f.skip != "" {
		return st.Skipped == f.skip
	}
	if needsOrder(f.path) && !r.req.compares {
		return false // its day depends on the names beside it
	}
	// Reasons for skipping that are not in the text can end while the time of the file stays the same.
	if r.req.Verify || st.Skipped != "" && st.Skipped != text.ErrBinary.Error() && st.Skipped != text.ErrUnknown.Error() {
		return false
	}
	e, ok := r.stats[f.path]
	if !ok || e.hash != st.SHA256 {
		e = st.entry()
		e.readAt = now
	}
	return e.sameAs(f.info) && e.trusted()
}

// entry returns what the index knows of the file.
func (st Stored) entry() statEntry {
	return statEntry{size: st.Size, mtime: st.ModTime, stamp: st.Stamp, hash: st.SHA256}
}

// remember records what the index contains of a file that was read: its new content if it was written, or else the old one.
func (r *syncRun) remember(t *fileTask, written bool) {
	if t.info == nil {
		return
	}
	indexed := Stored{SHA256: t.file.SHA256, Size: t.file.Size, ModTime: t.file.ModTime, Stamp: t.file.Stamp}
	if !written {
		indexed = *t.stored
	}
	e := statEntry{size: t.info.Size(), mtime: t.info.ModTime(), stamp: files.Stamp(t.info), hash: indexed.SHA256, readAt: t.readAt}
	if e.trusted() && indexed.entry().sameAs(t.info) {
		delete(r.stats, t.path) // the index says the same
		return
	}
	r.stats[t.path] = e
}
