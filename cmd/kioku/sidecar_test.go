package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"kioku/cmd/kioku/config"
)

// settings are those of some flags, key=value.
func settings(t *testing.T, flags ...string) *config.Config {
	t.Helper()
	src := config.Sources{Dir: t.TempDir(), Env: []string{"HOME=" + t.TempDir()}}
	for _, f := range flags {
		key, value, _ := strings.Cut(f, "=")
		src.Flags = append(src.Flags, config.Flag{Name: "--set", Key: key, Value: value})
	}
	conf, err := config.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	return conf
}

func TestTheModelIsTheOneOfTheSettings(t *testing.T) {
	if m, err := newModel(settings(t)); m != nil || err != nil {
		t.Errorf("without a provider there is %v, %v", m, err)
	}
	m, err := newModel(settings(t, "llm.provider=echo", "llm.window=12345"))
	if err != nil || m.Window() != 12345 {
		t.Errorf("got %v, %v", m, err)
	}
	m, err = newModel(settings(t, "llm.provider=anthropic", "llm.model=m", "llm.apiKey=k"))
	if err != nil || m.Name() != "m" {
		t.Errorf("got %v, %v", m, err)
	}
}

func TestAModelThatCannotBeIsAMisuseThatNamesTheSetting(t *testing.T) {
	for want, flags := range map[string][]string{
		"set llm.model":   {"llm.provider=ollama"},
		"no API key: set": {"llm.provider=anthropic", "llm.model=m"},
		"llm.allowHttp":   {"llm.provider=openai", "llm.model=m", "llm.baseUrl=http://192.0.2.1/v1"},
		"llm.limits":      {"llm.provider=echo", "llm.limits.usdPerDay=1"},
	} {
		_, err := newModel(settings(t, flags...))
		var fault *config.Error
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), want) || exitCode(err) != exitUsage {
			t.Errorf("%q: got %v, want %s", flags, err, want)
		}
	}
}

func TestAStateFolderHasOneSecretKeyWhoeverIsFirst(t *testing.T) {
	state := filepath.Join(t.TempDir(), "new", "state")
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() { keys[i] = frameKey(state, true) })
	}
	all.Wait()
	for _, key := range keys {
		if len(key) != frameKeyBytes || !bytes.Equal(key, keys[0]) {
			t.Errorf("got %x, want %x", key, keys[0])
		}
	}
	info, err := os.Stat(filepath.Join(state, "frame.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(state)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
	if other := frameKey(t.TempDir(), true); bytes.Equal(other, keys[0]) {
		t.Error("two folders have one key")
	}
}

func TestAKeyThatCannotBeUsedIsLeftOut(t *testing.T) {
	short := t.TempDir()
	if err := os.WriteFile(filepath.Join(short, "frame.key"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{short, filepath.Join(file, "state")} {
		if key := frameKey(state, true); key != nil {
			t.Errorf("%s has the key %x", state, key)
		}
	}
	unwritten := filepath.Join(t.TempDir(), "state")
	if key := frameKey(unwritten, false); key != nil {
		t.Errorf("a key was made: %x", key)
	}
	if _, err := os.Stat(unwritten); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
}
