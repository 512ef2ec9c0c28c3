package search

import "kioku/search/analysis"

// fileTerms says how much each term of the query counts for occurring in the names and the folders of a file; nil if none
// occurs. These are fields of every chunk of the file, as in BM25F (Robertson and Zaragoza, 2009): a term counts once a
// field, whatever the length of the field.
type fileTerms []float64

// fileKey is a file, and the language in which its names are read, which is that of the chunk.
type fileKey struct {
	path     string
	language analysis.Language
}

// fileTerms returns the terms of the query in the names and the folders of the file of a chunk.
func (s *scorer) fileTerms(c *Chunk) fileTerms {
	if c.Names == "" && c.Folders == "" {
		return nil
	}
	key := fileKey{c.Path, c.Language}
	if terms, ok := s.files[key]; ok {
		return terms
	}
	var terms fileTerms
	add := func(text string, weight float64) {
		seen := make(map[int]bool)
		s.startText(c)
		s.a.Add(text)
		for _, t := range s.a.Tokens {
			i := s.termIndex(t.Term)
			if i < 0 || seen[i] {
				continue
			}
			if terms == nil {
				terms = make(fileTerms, len(s.q.list))
			}
			terms[i] += weight
			seen[i] = true
		}
	}
	add(c.Names, nameWeight)
	add(c.Folders, folderWeight)
	s.files[key] = terms
	return terms
}

// of returns what the i-th term of the query counts.
func (f fileTerms) of(i int) float64 {
	if f == nil {
		return 0
	}
	return f[i]
}
