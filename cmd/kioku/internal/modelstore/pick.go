package modelstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Names of the files of a model.
const (
	weightsName   = "model.safetensors"
	tokenizerName = "tokenizer.json"
	configName    = "config.json"
)

// optionalNames are files that a model may have beside its weights and its tokenizer. The folder 1_Pooling is named so by
// sentence-transformers.
var optionalNames = []string{
	configName, "1_Pooling/config.json", "modules.json", "config_sentence_transformers.json", "sentence_bert_config.json",
	"tokenizer_config.json", "special_tokens_map.json", "README.md", "LICENSE",
}

// maxLook is how many files of a folder are looked at for a model.
const maxLook = 20_000

// pick finds the files of the one model in a folder, and returns their paths by the names that a model's files have. It returns an
// error that says what is there instead if there is no model, or more than one. left are files that were left out of the folder.
func pick(dir string, left []string) (map[string]string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	var weights, tokenizers []string
	others, looked := left, 0
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if looked++; looked > maxLook {
			return fmt.Errorf("%s has more than %d files; name the folder of the model", dir, maxLook)
		}
		if d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		switch rel, base := filepath.ToSlash(rel), strings.ToLower(d.Name()); {
		case strings.HasSuffix(base, ".safetensors"):
			weights = append(weights, rel)
		case strings.Contains(base, "tokenizer") && strings.HasSuffix(base, ".json"):
			tokenizers = append(tokenizers, rel)
		default:
			others = append(others, rel)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return choose(dir, weights, tokenizers, others)
}

// choose returns the files of the model among those of a folder.
func choose(dir string, weights, tokenizers, others []string) (map[string]string, error) {
	if len(weights) == 0 {
		return nil, fmt.Errorf("there is no model.safetensors%s", instead(others))
	}
	if i := slices.IndexFunc(others, func(name string) bool { return strings.HasSuffix(name, ".safetensors.index.json") }); i >= 0 {
		return nil, fmt.Errorf("the model is in several parts (%s), which cannot be read; models of up to about 2 GB are published in one file", others[i])
	}
	weight, err := chooseWeights(weights, tokenizers)
	if err != nil {
		return nil, err
	}
	tokenizer, err := chooseTokenizer(weight, tokenizers)
	if err != nil {
		return nil, err
	}
	files := map[string]string{weightsName: filepath.Join(dir, weight), tokenizerName: filepath.Join(dir, tokenizer)}
	bases := []string{path.Dir(weight)}
	if moduleFolder.MatchString(path.Base(bases[0])) {
		bases = append([]string{path.Dir(bases[0])}, bases...) // the folder of the modules describes the model too
	}
	for _, base := range bases {
		for _, name := range optionalNames {
			file := filepath.Join(dir, filepath.FromSlash(base), filepath.FromSlash(name))
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
				files[name] = file
			}
		}
	}
	return files, nil
}

// moduleFolder matches the folder of one module of sentence-transformers, such as 0_StaticEmbedding.
var moduleFolder = regexp.MustCompile(`^[0-9]+_`)

// chooseWeights returns the file of weights: the only one, or the only model.safetensors with a tokenizer beside it.
func chooseWeights(weights, tokenizers []string) (string, error) {
	if len(weights) == 1 {
		return weights[0], nil
	}
	var whole []string
	for _, w := range weights {
		if path.Base(w) == weightsName && slices.Contains(tokenizers, path.Join(path.Dir(w), tokenizerName)) {
			whole = append(whole, w)
		}
	}
	if len(whole) == 1 {
		return whole[0], nil
	}
	slices.Sort(weights)
	return "", fmt.Errorf("there are several models: %s; add the folder of one", strings.Join(weights[:min(len(weights), 8)], ", "))
}

// chooseTokenizer returns the tokenizer of a file of weights: the one beside it, else the only one whose content is that of a
// tokenizer.json, whatever it is called.
func chooseTokenizer(weight string, tokenizers []string) (string, error) {
	for dir := path.Dir(weight); ; dir = path.Dir(dir) {
		if beside := path.Join(dir, tokenizerName); slices.Contains(tokenizers, beside) {
			return beside, nil
		}
		if dir == "." {
			break
		}
	}
	var like []string
	for _, t := range tokenizers {
		// Some packages call their tokenizer.json <name>_tokenizer_config.json; tokenizer_config.json itself is another file.
		if base := path.Base(t); base != "tokenizer_config.json" {
			like = append(like, t)
		}
	}
	switch len(like) {
	case 1:
		return like[0], nil
	case 0:
		return "", errors.New("there is no tokenizer.json; models that only have vocab.txt or a .model file of SentencePiece cannot be read")
	}
	return "", fmt.Errorf("there are several tokenizers: %s; add a folder with one", strings.Join(like[:min(len(like), 8)], ", "))
}

// instead names what a folder has in place of weights that can be read.
func instead(others []string) string {
	for _, kind := range []struct{ suffix, what string }{
		{".onnx", "an ONNX file"}, {".gguf", "a GGUF file, which a server such as llama.cpp or Ollama reads"},
		{".bin", "weights of PyTorch"}, {".h5", "weights of TensorFlow"},
	} {
		i := slices.IndexFunc(others, func(name string) bool { return strings.HasSuffix(strings.ToLower(name), kind.suffix) })
		if i >= 0 {
			return fmt.Sprintf(", but %s (%s); most models are published as model.safetensors too", kind.what, others[i])
		}
	}
	return ""
}
