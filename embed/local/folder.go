package local

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kioku/embed/local/encoder"
)

// maxConfig is the largest JSON file beside the tokenizer that is read, in bytes.
const maxConfig = 1 << 20

// folder is what the small files of a model say.
type folder struct {
	dir string
	// weightsPath and tokenizerPath are the large files.
	weightsPath, tokenizerPath string
	config                     configFile
	encoder                    encoder.Config
	modules                    []moduleFile
	prompts                    promptsFile
	pooling                    string // empty if no file says it
	maxTokens                  int    // 0 if no file says it
}

// configFile is the part of config.json that is about all kinds of models.
type configFile struct {
	Name          string   `json:"_name_or_path"`
	ModelType     string   `json:"model_type"`
	Architectures []string `json:"architectures"`
}

// moduleFile is an entry of modules.json of Sentence Transformers.
type moduleFile struct {
	Path string `json:"path"`
	Type string `json:"type"`
}

// promptsFile is config_sentence_transformers.json.
type promptsFile struct {
	Prompts map[string]*string `json:"prompts"`
}

// poolingFile is the config.json of the module Pooling.
type poolingFile struct {
	Mode string `json:"pooling_mode"`
	CLS  bool   `json:"pooling_mode_cls_token"`
	Mean bool   `json:"pooling_mode_mean_tokens"`
	Max  bool   `json:"pooling_mode_max_tokens"`
	Root bool   `json:"pooling_mode_mean_sqrt_len_tokens"`
	Last bool   `json:"pooling_mode_lasttoken"`
	Some bool   `json:"pooling_mode_weightedmean_tokens"`
}

// readFolder reads the small files of a model.
func readFolder(dir string) (*folder, error) {
	f := &folder{dir: dir}
	if err := errors.Join(
		f.readConfig(dir),
		readJSON(filepath.Join(dir, "modules.json"), &f.modules),
		readJSON(filepath.Join(dir, "config_sentence_transformers.json"), &f.prompts),
	); err != nil {
		return nil, err
	}
	places := []string{dir}
	for _, m := range f.modules {
		if !fs.ValidPath(path.Clean(m.Path)) {
			return nil, fmt.Errorf("%w: modules.json names the path %.60q", ErrNoModel, m.Path)
		}
		place := filepath.Join(dir, filepath.FromSlash(m.Path))
		if err := f.readModule(m, place); err != nil {
			return nil, err
		}
		places = append(places, place)
	}
	f.weightsPath, f.tokenizerPath = find(places, "model.safetensors"), find(places, "tokenizer.json")
	return f, f.complete()
}

// readModule reads what a module of Sentence Transformers says.
func (f *folder) readModule(m moduleFile, place string) error {
	switch kind := m.Type[strings.LastIndex(m.Type, ".")+1:]; kind {
	case "Normalize":
		return nil
	case "Transformer", "StaticEmbedding":
		return f.readConfig(place)
	case "Pooling":
		var p poolingFile
		if err := readJSON(filepath.Join(place, "config.json"), &p); err != nil {
			return err
		}
		var err error
		f.pooling, err = p.pooling()
		return err
	default:
		return fmt.Errorf("%w: modules.json has a module %.40q, which is not supported: use a model of Transformer, Pooling and Normalize", ErrNoModel, kind)
	}
}

// pooling returns the pooling that a file chooses, empty if it chooses none.
func (p poolingFile) pooling() (string, error) {
	switch {
	case p.Max || p.Root || p.Last || p.Some || p.CLS && p.Mean || !slices.Contains([]string{"", "cls", "mean"}, p.Mode):
		return "", fmt.Errorf("%w: its pooling is not supported: mean and cls are", ErrNoModel)
	case p.CLS || p.Mode == "cls":
		return poolCLS, nil
	case p.Mean || p.Mode == "mean":
		return poolMean, nil
	}
	return "", nil
}

// readConfig reads what a folder says about the encoder: its shape, and the number of tokens to which Sentence Transformers cuts
// texts.
func (f *folder) readConfig(place string) error {
	length := struct {
		Most int `json:"max_seq_length"`
	}{f.maxTokens}
	config := filepath.Join(place, "config.json")
	err := errors.Join(readJSON(config, &f.config), readJSON(config, &f.encoder), readJSON(filepath.Join(place, "sentence_bert_config.json"), &length))
	f.maxTokens = max(0, length.Most)
	return err
}

// complete returns an error unless the large files are there.
func (f *folder) complete() error {
	switch {
	case f.weightsPath != "" && f.tokenizerPath != "":
		return nil
	case f.weightsPath == "" && find([]string{f.dir}, "model.safetensors.index.json") != "":
		return fmt.Errorf("%w: %s has its weights in several files: use a model with one model.safetensors", ErrNoModel, f.dir)
	case f.weightsPath == "" && (find([]string{f.dir}, "pytorch_model.bin") != "" || find([]string{f.dir}, "model.onnx") != ""):
		return fmt.Errorf("%w: %s has no model.safetensors, only weights in another format", ErrNoModel, f.dir)
	case f.weightsPath == "":
		return fmt.Errorf("%w: %s has no model.safetensors", ErrNoModel, f.dir)
	}
	return fmt.Errorf("%w: %s has no tokenizer.json", ErrNoModel, f.dir)
}

// find returns the path of a file in the first place that has it, empty if none has.
func find(places []string, name string) string {
	for _, place := range places {
		file := filepath.Join(place, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

// readJSON decodes a JSON file; one that is not there leaves into as it is.
func readJSON(file string, into any) error {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxConfig) {
		err = fmt.Errorf("%w: %s is too large, or no regular file", ErrNoModel, file)
	}
	if err != nil {
		return err
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrNoModel, file, err)
	}
	return nil
}

// name returns the name of the model: that of its folder, or in the cache of Hugging Face (models--BAAI--bge-m3/snapshots/5617a9f)
// that of the repository.
func (f *folder) name() string {
	dir := filepath.Clean(f.dir)
	if parent := filepath.Dir(dir); filepath.Base(parent) == "snapshots" {
		parts := strings.Split(filepath.Base(filepath.Dir(parent)), "--")
		return parts[len(parts)-1]
	}
	return filepath.Base(dir)
}

// names returns the names by which the model may be known. What config.json calls it is often the model that it was
// trained from.
func (f *folder) names() []string {
	return []string{f.name(), filepath.ToSlash(f.config.Name)}
}

// setKnown sets the pooling and the number of tokens that the files do not say, from those known by name, and else the pooling to
// the mean.
func (f *folder) setKnown() {
	for _, name := range f.names() {
		known := KnownAs(name)
		f.pooling, f.maxTokens = cmp.Or(f.pooling, known.pooling), cmp.Or(f.maxTokens, known.tokens)
	}
	f.pooling = cmp.Or(f.pooling, poolMean)
}

// Names of prompts in config_sentence_transformers.json.
var (
	queryPrompts    = []string{"query", "search_query", "retrieval_query"}
	documentPrompts = []string{"document", "passage", "search_document"}
)

// setPrefixes sets the prefixes: of the options, else of the files, else those known by name.
func (i *Info) setPrefixes(f *folder, opt Options) {
	for _, name := range f.names() {
		if i.QueryPrefix+i.DocumentPrefix == "" {
			known := KnownAs(name)
			i.QueryPrefix, i.DocumentPrefix = known.Query, known.Document
		}
	}
	f.prompts.set(&i.QueryPrefix, queryPrompts)
	f.prompts.set(&i.DocumentPrefix, documentPrompts)
	if opt.QueryPrefix != nil {
		i.QueryPrefix = *opt.QueryPrefix
	}
	if opt.DocumentPrefix != nil {
		i.DocumentPrefix = *opt.DocumentPrefix
	}
}

// set sets prefix to the first of the prompts that is not empty. Sentence Transformers writes empty ones for models whose
// authors set none.
func (p promptsFile) set(prefix *string, names []string) {
	for _, name := range names {
		if prompt := p.Prompts[name]; prompt != nil && *prompt != "" {
			*prefix = *prompt
			return
		}
	}
}
