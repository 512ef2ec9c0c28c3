package indexer

import (
	"cmp"
	"path"
	"slices"
	"time"

	"kioku/internal/safefile"
)

// racyWindow is how much older than its reading a file's time must be to be trusted: clocks of file systems tick as
// coarsely as every two seconds, and a second edit within one tick changes neither time nor, perhaps, size.
const racyWindow = 2 * time.Second

// memo is what this process remembers of a file, where that is more than what the index holds.
type memo struct {
	size  int64
	mtime time.Time
	// hash as the index holds it, and when the file was read to find that out.
	hash Hash
	read time.Time
}

// rested reports whether a file was read so long after it was written that its time is to be trusted.
func (m memo) rested() bool { return m.read.Sub(m.mtime) >= racyWindow }

// job is a file that may have to be indexed.
type job struct {
	found
	stored Stored
	// known says that the index holds stored.
	known bool
}

// plan compares what a scan found with what the index holds.
type plan struct {
	jobs []job
	// gone are files that the index holds and the folder does not.
	gone []done
}

func (r *run) plan(s *scan, stored map[string]Stored) plan {
	var p plan
	both, now := 0, r.x.opt.Now()
	for i := range s.files {
		f := &s.files[i]
		st, known := stored[f.path]
		if known {
			both++
		}
		if !r.waits(f, st) && !(known && r.settled(f, st, now)) {
			p.jobs = append(p.jobs, job{found: *f, stored: st, known: known})
		}
	}
	sortJobs(p.jobs)
	if both < len(stored) {
		p.gone = r.gone(s, stored)
	}
	return p
}

// gone lists what the index holds and the scan did not find where it looked.
func (r *run) gone(s *scan, stored map[string]Stored) []done {
	var gone []done
	for name, st := range stored {
		if !s.byPath[name] && r.inScope(name) && !s.keeps(name) {
			gone = append(gone, done{
				job:  job{found: found{path: name}, stored: st, known: true},
				file: File{Path: name, Gone: true},
			})
		}
	}
	slices.SortFunc(gone, func(a, b done) int { return cmp.Compare(a.path, b.path) })
	return gone
}

// sortJobs brings jobs into the order of their names.
func sortJobs(jobs []job) {
	slices.SortFunc(jobs, func(a, b job) int { return cmp.Compare(a.path, b.path) })
}

// inScope reports whether this sync looks at a name of the index.
func (r *run) inScope(name string) bool {
	if r.req.full || r.scope[name] {
		return true
	}
	for up := path.Dir(name); up != "." && up != "/"; up = path.Dir(up) {
		if r.scope[up] {
			return true
		}
	}
	return false
}

// settled reports whether the index, which holds st of a file, is known to hold it as it is, without reading it.
func (r *run) settled(f *found, st Stored, now time.Time) bool {
	if st.Source != f.source {
		return false
	}
	if f.skip != "" {
		return st.Skipped == f.skip
	}
	// Other reasons than a file's bytes can end without a change of its time.
	if r.req.verify || (st.Skipped != "" && st.Skipped != safefile.ReasonBinary) {
		return false
	}
	m, seen := r.x.memos[f.path]
	if !seen || m.hash != st.SHA256 {
		m = memo{size: st.Size, mtime: st.ModTime, read: now}
	}
	return m.size == f.info.Size() && m.mtime.Equal(f.info.ModTime()) && m.rested()
}
