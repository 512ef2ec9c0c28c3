package search

import "kioku/search/analysis"

// fileTerms says how much each term of the query counts for occurring in the names of a file; nil if none
// occurs. They are a field of every chunk of the file, as in BM25F (Robertson and Zaragoza, 2009): a term counts once,
// whatever the length of the field.
type fileTerms []float64

// fileKey is a file, and the language in which its names are read, which is that of the chunk.
type fileKey struct {
	path     string
	language analysis.Language
}

// fileTerms returns the terms of the query in the names of the file of a chunk.
func (s *scorer) fileTerms(c *Chunk) fileTerms {
	if c.Names == "" {
		return nil
	}
	key := fileKey{c.Path, c.Language}
	if terms, ok := s.files[key]; ok {
		return terms
	}
	var terms fileTerms
	s.startText(c)
	s.a.Add(c.Names)
	for _, t := range s.a.Tokens {
		i := s.termIndex(t.Term)
		if i < 0 {
			continue
		}
		if terms == nil {
			terms = make(fileTerms, len(s.q.list))
		}
		terms[i] = nameWeight
	}
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
