package modelstore

import (
	"fmt"
	"os"
	"path/filepath"
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

// staticModule is where sentence-transformers keeps a static model, in the folder whose other files describe it.
const staticModule = "0_StaticEmbedding"

// pick returns the paths of the files of the model in a folder by the names that a model's files have: its weights and its tokenizer,
// side by side in the folder or in that of a static model, and what describes them. It returns an error that says what is there
// instead if there is no model.
func pick(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	at := dir
	if !exists(filepath.Join(dir, weightsName)) && exists(filepath.Join(dir, staticModule, weightsName)) {
		at = filepath.Join(dir, staticModule)
	}
	files := map[string]string{weightsName: filepath.Join(at, weightsName), tokenizerName: filepath.Join(at, tokenizerName)}
	if !exists(files[weightsName]) {
		return nil, fmt.Errorf("there is no %s%s", weightsName, instead(entries))
	}
	if !exists(files[tokenizerName]) {
		return nil, fmt.Errorf("there is no %s; models that only have vocab.txt or a .model file of SentencePiece cannot be read", tokenizerName)
	}
	for _, folder := range []string{dir, at} {
		for _, name := range optionalNames {
			file := filepath.Join(folder, filepath.FromSlash(name))
			if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
				files[name] = file
			}
		}
	}
	return files, nil
}

// instead names what a folder has in place of weights that can be read.
func instead(entries []os.DirEntry) string {
	for _, kind := range []struct{ suffix, what string }{
		{".safetensors.index.json", "a model in several parts, which cannot be read; models of up to about 2 GB are published in one file"},
		{".onnx", "an ONNX file"}, {".gguf", "a GGUF file, which a server such as llama.cpp or Ollama reads"},
		{".bin", "weights of PyTorch"}, {".h5", "weights of TensorFlow"},
	} {
		for _, e := range entries {
			if strings.HasSuffix(strings.ToLower(e.Name()), kind.suffix) {
				return fmt.Sprintf(", but %s (%s); most models are published as model.safetensors too", kind.what, e.Name())
			}
		}
	}
	return ""
}
