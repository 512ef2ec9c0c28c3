package speed

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// indexFiles of about indexBytes are what a full index reads.
	indexFiles = 2000
	indexBytes = 10_000
	// indexDims is the dimension of the vectors, and indexVectorCount how many different ones there are.
	indexDims        = 768
	indexVectorCount = 512
)

// indexDay is the day of the nth file.
func indexDay(n int) string {
	return time.Date(2010, 1, 1+n, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// indexFile is the path of the nth file.
func indexFile(workspace string, n int) string {
	return filepath.Join(workspace, "memory", indexDay(n)+".md")
}

// writeIndexCorpus writes the files of a full index and returns their texts: daily notes with sections of sentences, the
// words of a Zipf distribution, every tenth file in Japanese.
func writeIndexCorpus(workspace string) ([]string, error) {
	if err := os.MkdirAll(filepath.Join(workspace, "memory"), 0o700); err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(20, 2000))
	zipf := rand.NewZipf(r, 1.1, 4, 20_000)
	texts := make([]string, indexFiles)
	for i := range texts {
		var text strings.Builder
		fmt.Fprintf(&text, "# %s\n", indexDay(i))
		for text.Len() < indexBytes {
			fmt.Fprintf(&text, "\n## %02d:%02d - %s\n\n", r.IntN(24), r.IntN(60), indexWord(zipf.Uint64()))
			for range 4 {
				writeIndexSentence(&text, r, zipf, i%10 == 9)
			}
		}
		texts[i] = text.String()
		if err := os.WriteFile(indexFile(workspace, i), []byte(texts[i]), 0o600); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// writeIndexSentence writes one line.
func writeIndexSentence(text *strings.Builder, r *rand.Rand, zipf *rand.Zipf, japanese bool) {
	for range 10 + r.IntN(15) {
		if japanese {
			text.WriteRune(rune(0x4e00 + zipf.Uint64()%3000))
			text.WriteRune(rune(0x3042 + zipf.Uint64()%80))
			continue
		}
		text.WriteString(indexWord(zipf.Uint64()))
		text.WriteByte(' ')
	}
	text.WriteString(".\n")
}

// indexWord spells a number with syllables, so that frequent words are short.
func indexWord(n uint64) string {
	const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
	var w []byte
	for n += 20; n > 0; n /= 90 {
		w = append(w, consonants[n%18], vowels[n/18%5])
	}
	return string(w)
}

// indexProvider answers like a server of embeddings that needs no time to think. It is an http.RoundTripper; what it
// sends is prepared.
type indexProvider struct {
	blobs   [][]byte // float32, little-endian
	encoded [][]byte // the same in base64, as a JSON string
}

func newIndexProvider() *indexProvider {
	r := rand.New(rand.NewPCG(7, indexDims))
	p := &indexProvider{}
	for range indexVectorCount {
		vector, sum := make([]float64, indexDims), 0.0
		for i := range vector {
			vector[i] = r.NormFloat64()
			sum += vector[i] * vector[i]
		}
		var blob []byte
		for _, x := range vector {
			blob = binary.LittleEndian.AppendUint32(blob, math.Float32bits(float32(x/math.Sqrt(sum))))
		}
		p.blobs = append(p.blobs, blob)
		p.encoded = append(p.encoded, strconv.AppendQuote(nil, base64.StdEncoding.EncodeToString(blob)))
	}
	return p
}

// blob returns the vector of a text, little-endian.
func (p *indexProvider) blob(text string) []byte { return p.blobs[indexVectorOf(text)] }

// indexVectorOf returns which of the vectors a text has.
func indexVectorOf(text string) int {
	h := fnv.New32a()
	io.WriteString(h, text[:min(len(text), 64)])
	return int(h.Sum32() % indexVectorCount)
}

// RoundTrip answers a request for embeddings.
func (p *indexProvider) RoundTrip(r *http.Request) (*http.Response, error) {
	var asked struct {
		Input    []string
		Encoding string `json:"encoding_format"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	if asked.Encoding != "base64" {
		return nil, errors.New("vectors were not asked for in base64")
	}
	var b bytes.Buffer
	b.WriteString(`{"object":"list","data":[`)
	for i, text := range asked.Input {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"object":"embedding","index":%d,"embedding":`, i)
		b.Write(p.encoded[indexVectorOf(text)])
		b.WriteByte('}')
	}
	b.WriteString(`],"model":"speed","usage":{"prompt_tokens":0,"total_tokens":0}}`)
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(&b), ContentLength: int64(b.Len()),
	}, nil
}
