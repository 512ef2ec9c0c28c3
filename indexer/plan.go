package indexer

import (
	"cmp"
	"path"
	"slices"
	"time"
)

// racyWindow is how much older than its reading a file's time must be to be trusted: clocks of file systems tick as
// coarsely as every two seconds, and a second edit within one tick changes neither time nor, perhaps, size.
const racyWindow = 2 * time.Second

// parkedFor is how long texts that the provider refused are left alone.
const parkedFor = time.Hour

// memo is what this process remembers of a file, beyond what the index holds.
type memo struct {
	size  int64
	mtime time.Time
	// hash as the index holds it, and when the file was read to find that out.
	hash Hash
	read time.Time
	// refused is why some texts have no vector although the provider answers; they are asked for again after parked.
	refused error
	parked  time.Time
}

// job is a file that may have to be indexed.
type job struct {
	found
	stored Stored
	// known says that the index holds stored.
	known bool
	// retry says that the file is wanted for texts without vectors; settled then, that there is no other reason.
	retry, settled bool
}

// plan compares what a scan found with what the index holds.
type plan struct {
	jobs []job
	// gone are files that the index holds and the folder does not.
	gone []done
}

func (r *run) plan(s *scan, stored map[string]Stored) plan {
	var p plan
	present := make(map[string]bool, len(s.files))
	for _, f := range s.files {
		present[f.path] = true
		st, known := stored[f.path]
		j := job{found: f, stored: st, known: known, retry: known && r.wantsVectors(f.path, st)}
		if j.settled = r.settled(j); j.retry || !j.settled {
			p.jobs = append(p.jobs, j)
		} else {
			r.unchanged(st)
		}
	}
	for name, st := range stored {
		if !present[name] && r.inScope(name) && !s.keeps(name) {
			p.gone = append(p.gone, done{
				job:  job{found: found{path: name}, stored: st, known: true},
				file: File{Path: name, Gone: true},
			})
		}
	}
	slices.SortFunc(p.gone, func(a, b done) int { return cmp.Compare(a.path, b.path) })
	return p
}

// unchanged accounts for a file that the index holds as it is.
func (r *run) unchanged(st Stored) {
	if r.req.noRebuild && r.x.embed.Enabled() && st.Unembedded > 0 {
		r.rep.Bare++
	}
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

// settled reports whether the index is known to hold a file as it is, without reading it.
func (r *run) settled(j job) bool {
	if !j.known || j.stored.Source != j.source {
		return false
	}
	if j.skip != "" {
		return j.stored.Skipped == j.skip
	}
	// Other reasons than a file's bytes can end without a change of its time.
	if r.req.verify || (j.stored.Skipped != "" && j.stored.Skipped != reasonBinary) {
		return false
	}
	m, seen := r.x.memos[j.path]
	if !seen || m.hash != j.stored.SHA256 {
		m = memo{size: j.stored.Size, mtime: j.stored.ModTime, read: r.x.opt.Now()}
	}
	if m.size != j.info.Size() || !m.mtime.Equal(j.info.ModTime()) {
		return false
	}
	return m.read.Sub(m.mtime) >= racyWindow
}

// wantsVectors reports whether a file has texts without vectors and it is time to ask for them again.
func (r *run) wantsVectors(name string, st Stored) bool {
	if st.Unembedded == 0 || !r.x.embed.Enabled() || r.req.noRebuild {
		return false
	}
	m := r.x.memos[name]
	if m.refused != nil && r.x.opt.Now().Before(m.parked) {
		r.noteEmbedErr(m.refused)
		return false
	}
	if r.vectors.down == nil && r.stale == "" {
		return true
	}
	r.noteEmbedErr(r.vectors.down)
	return false
}

// ready reports whether the provider may be asked.
func (x *Indexer) ready() bool {
	h := x.embed.Health()
	return h.Healthy || !h.RetryAt.After(x.opt.Now())
}

// noteEmbedErr keeps the first reason why texts are without vectors.
func (r *run) noteEmbedErr(err error) {
	if r.rep.EmbedErr == nil {
		r.rep.EmbedErr = err
	}
}
