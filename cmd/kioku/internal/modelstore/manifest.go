package modelstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// manifestName is the name of the file that describes a model.
const manifestName = "kioku-model.json"

// maxManifest is the maximum size of a manifest in bytes.
const maxManifest = 1 << 20

// Role is what a model is for.
type Role string

// Roles of models.
const (
	// Embedder turns texts into vectors.
	Embedder Role = "embedder"
	// Reranker scores passages against a question.
	Reranker Role = "reranker"
)

// Facts are what opening a model tells of it.
type Facts struct {
	// Kind is "transformer" or "static".
	Kind string `json:"kind,omitempty"`
	// Dims is the number of dimensions of its vectors; 0 for a reranker.
	Dims int `json:"dims,omitempty"`
}

// Manifest describes an added model.
type Manifest struct {
	// Name of the model, which is also the name of its folder.
	Name string `json:"name"`
	// Role is what the model is for.
	Role Role `json:"role"`
	// Source is the name, path or URL that it was added from.
	Source string `json:"source"`
	// Model is its name where it was published, such as intfloat/e5-small-v2; it tells prefixes and pooling of known models.
	Model string `json:"model,omitempty"`
	// Folder is the name of the folder with its files, in that of the model: the last part of Model.
	Folder string `json:"folder"`
	// Revision of a repository; empty if it is not known.
	Revision string `json:"revision,omitempty"`
	// License of a known model.
	License string `json:"license,omitempty"`
	// Languages of a known model.
	Languages string `json:"languages,omitempty"`
	// Added is when the model was added.
	Added time.Time `json:"added"`
	// Files of the model, without the manifest.
	Files []File `json:"files"`
	Facts
}

// File is one file of a model.
type File struct {
	// Path relative to the folder of the files, with slashes.
	Path string `json:"path"`
	// Bytes is its size.
	Bytes int64 `json:"bytes"`
	// SHA256 of its content, in hexadecimal digits.
	SHA256 string `json:"sha256"`
	// Verified is true if the checksum was known before the file came: from the list of known models or from the server.
	Verified bool `json:"verified,omitempty"`
}

// Bytes is the size of all files.
func (m Manifest) Bytes() int64 {
	var sum int64
	for _, f := range m.Files {
		sum += f.Bytes
	}
	return sum
}

// modelName matches the name of a model, which is safe as a file name.
var modelName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// CheckName returns an error unless name may name a model.
func CheckName(name string) error {
	if modelName.MatchString(name) {
		return nil
	}
	return fmt.Errorf("%q cannot be the name of a model: use 1 to 64 of a-z, 0-9, '.', '_' and '-', beginning with a letter or digit", name)
}

// nameFrom makes a name of a model out of the last part of a path or URL.
func nameFrom(text string) string {
	base := strings.ToLower(filepath.Base(filepath.ToSlash(text)))
	base = unsafeInName.ReplaceAllString(base, "-")
	base = strings.TrimLeft(base, "._-")
	return base[:min(len(base), 64)]
}

// folderName matches the name of a folder with the files of a model.
var folderName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// folderFrom makes the name of a folder out of the published name of a model: what a folder is called tells how models are used
// whose files do not.
func folderFrom(model string) string {
	name := strings.TrimLeft(unsafeInName.ReplaceAllString(filepath.Base(filepath.ToSlash(model)), "-"), "._-")
	if name == "" {
		return "model"
	}
	return name[:min(len(name), 128)]
}

// unsafeInName matches what is replaced in names.
var unsafeInName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// readManifest reads the manifest of the model in a folder. It returns an error that is fs.ErrNotExist if there is none.
func readManifest(dir string) (Manifest, error) {
	var m Manifest
	path := filepath.Join(dir, manifestName)
	info, err := os.Stat(path)
	if err != nil {
		return m, err
	}
	if info.Size() > maxManifest {
		return m, fmt.Errorf("%s is larger than %d bytes", path, maxManifest)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("read %s: %w", path, err)
	}
	return m, m.check(path)
}

// check returns what is wrong with a manifest that was read from a file.
func (m Manifest) check(path string) error {
	if m.Role != Embedder && m.Role != Reranker {
		return fmt.Errorf("%s: unknown role %q", path, m.Role)
	}
	if !folderName.MatchString(m.Folder) {
		return fmt.Errorf("%s: %q cannot be the folder of its files", path, m.Folder)
	}
	if len(m.Files) == 0 {
		return fmt.Errorf("%s lists no files", path)
	}
	for _, f := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
			return fmt.Errorf("%s: the path %q leaves the folder", path, f.Path)
		}
	}
	return nil
}

// writeManifest writes the manifest of a model into its folder and flushes it to the disk.
func writeManifest(dir string, m Manifest) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, manifestName), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}
