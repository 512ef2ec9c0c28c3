package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"kioku/internal/atomicfile"
)

const (
	// objectsFolder has the texts of a journal, each in a file named for its hash, in a folder named for the first two digits.
	objectsFolder = "objects"
	objectSuffix  = ".zst"
)

// coders compress and decompress. They start no goroutines for whole texts.
var coders = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	enc, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	dec, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxOutput))
	return enc, dec
})

// objectPath returns the path of a text in the journal.
func objectPath(hash string) string { return path.Join(objectsFolder, hash[:2], hash+objectSuffix) }

// writeObject stores a text unless it is there, and returns its size on the disk.
func (j *Journal) writeObject(hash string, text []byte) (int64, error) {
	root, err := os.OpenRoot(j.opt.Folder)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	name := objectPath(hash)
	if info, err := root.Stat(name); err == nil && info.Size() > 0 {
		return info.Size(), nil
	}
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return 0, err
	}
	enc, _ := coders()
	packed := enc.EncodeAll(text, nil)
	return int64(len(packed)), atomicfile.Write(root, name, packed, 0o600)
}

// readObject returns a text.
func (j *Journal) readObject(hash string) ([]byte, error) {
	if len(hash) < 2 || strings.Trim(hash, "0123456789abcdef") != "" {
		return nil, fs.ErrNotExist
	}
	root, err := os.OpenRoot(j.opt.Folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	packed, err := root.ReadFile(objectPath(hash))
	if err != nil {
		return nil, err
	}
	_, dec := coders()
	text, err := dec.DecodeAll(packed, []byte{})
	if err != nil {
		return nil, fmt.Errorf("text %.10s of the journal is damaged: %w; kioku history purge removes it", hash, err)
	}
	return text, nil
}

// removeObjects removes the texts that a log does not name.
func (j *Journal) removeObjects(l *journalLog) error {
	named := map[string]bool{}
	for _, e := range l.entries {
		named[e.Object] = true
	}
	root, err := os.OpenRoot(j.opt.Folder)
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), objectsFolder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || named[strings.TrimSuffix(d.Name(), objectSuffix)] {
			return err
		}
		return root.Remove(name)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
