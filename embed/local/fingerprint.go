package local

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
)

// sampledBlocks is how many blocks of a large file the digest reads: another training of a model changes all of them.
const (
	sampledBlocks = 128
	blockSize     = 4096
)

// digest returns a digest of the files that decide what the vectors of a model are. It reads a sample of the weights, so that
// it takes milliseconds.
func digest(f *folder) (string, error) {
	h := sha256.New()
	for _, path := range []string{f.weightsPath, f.tokenizerPath} {
		if err := sample(h, path); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// sample writes the size of a file and evenly spaced blocks of it to h.
func sample(h hash.Hash, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	fmt.Fprintf(h, "%d\n", info.Size())
	step := max(blockSize, (info.Size()-blockSize)/(sampledBlocks-1))
	block := make([]byte, blockSize)
	for at := int64(0); at < info.Size(); at += step {
		n, err := file.ReadAt(block, at)
		if err != nil && err != io.EOF {
			return err
		}
		h.Write(block[:n])
	}
	return nil
}

// fingerprint returns a short name for a digest together with settings.
func fingerprint(digest string, settings ...string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %q", digest, settings)
	return hex.EncodeToString(h.Sum(nil))[:16]
}
