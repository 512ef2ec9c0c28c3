package host

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/sidecar"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
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

func TestNewModelIsTheOneOfTheSettings(t *testing.T) {
	t.Parallel()
	if m, err := NewModel(settings(t)); m != nil || err != nil {
		t.Errorf("without a provider there is %v, %v", m, err)
	}
	m, err := NewModel(settings(t, "llm.provider=echo", "llm.window=12345"))
	if err != nil || m.Window() != 12345 {
		t.Errorf("got %v, %v", m, err)
	}
	m, err = NewModel(settings(t, "llm.provider=anthropic", "llm.model=m", "llm.apiKey=k"))
	if err != nil || m.Name() != "m" {
		t.Errorf("got %v, %v", m, err)
	}
}

func TestNewModelNamesAWrongSetting(t *testing.T) {
	t.Parallel()
	for want, flags := range map[string][]string{
		"set llm.model":   {"llm.provider=ollama"},
		"no API key: set": {"llm.provider=anthropic", "llm.model=m"},
		"llm.allowHttp":   {"llm.provider=openai", "llm.model=m", "llm.baseUrl=http://192.0.2.1/v1"},
	} {
		_, err := NewModel(settings(t, flags...))
		var bad *config.Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", flags, err, want)
		}
	}
}

func TestFrameKeyIsOneForAllProcesses(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "new", "state")
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			var err error
			if keys[i], err = frameKey(state, true); err != nil {
				t.Error(err)
			}
		})
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
	if other, err := frameKey(t.TempDir(), true); err != nil || bytes.Equal(other, keys[0]) {
		t.Errorf("two folders have one key: %v", err)
	}
}

func TestFrameKeyThatCannotBeUsedIsReported(t *testing.T) {
	t.Parallel()
	short := t.TempDir()
	if err := os.WriteFile(filepath.Join(short, "frame.key"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for state, want := range map[string]string{short: "has 5 bytes instead of 32; if it is removed", filepath.Join(file, "state"): "not a directory"} {
		if key, err := frameKey(state, true); key != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s has the key %x, %v", state, key, err)
		}
	}
	unwritten := filepath.Join(t.TempDir(), "state")
	if key, err := frameKey(unwritten, false); key != nil || err != nil {
		t.Errorf("a key was made: %x, %v", key, err)
	}
	if _, err := os.Stat(unwritten); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
}

func TestFrameKeyThatIsDamagedIsReportedOnce(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	if err := os.WriteFile(filepath.Join(state, "frame.key"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	conf := settings(t, "state="+state, "agents=nova="+t.TempDir()+",ryo="+t.TempDir())
	places, err := conf.Places()
	if err != nil {
		t.Fatal(err)
	}
	all, err := Beside{Conf: conf, Out: &render.Output{Stderr: &errs}, Dir: t.TempDir(), Memories: MissingMemory}.Sidecars(t.Context(), places...)
	if err != nil || len(all) != 2 || strings.Count(errs.String(), "frame.key, has 5 bytes") != 1 {
		t.Errorf("%d sidecars, %v: %s", len(all), err, errs.String())
	}
}

// Each setting of the agent side arrives where it has its effect.
func TestSidecarOptionsTakeEverySetting(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	values := map[string]string{
		"bootstrapMaxChars": "4321", "skills.extraDirs": folder,
		"cacheFriendly":  "false",
		"recall.enabled": "false", "recall.topK": "7", "recall.deadlineMs": "777", "recall.shared": "team",
		"compaction.reserveTokensFloor": "777", "compaction.keepRecentTokens": "777", "compaction.memoryFlush.enabled": "false",
		"compaction.memoryFlush.softThresholdTokens": "777", "compaction.memoryFlush.softThresholdRatio": "0.77",
		"compaction.memoryFlush.onEnd": "false", "compaction.memoryFlush.idleSeconds": "77", "compaction.memoryFlush.groups": "off",
		"contextPruning.mode": "off", "contextPruning.tools.deny": "read",
		"turns.keep": "false",
	}
	options := func(flags ...string) sidecar.Options {
		opt, err := Beside{Conf: settings(t, append(flags, "state="+folder)...), Dir: folder, ReadOnly: true}.options()
		if err != nil {
			t.Fatal(err)
		}
		opt.Count, opt.Now, opt.Log = nil, nil, nil
		return opt
	}
	before := options()
	if diff := cmp.Diff(before, options()); diff != "" {
		t.Fatalf("the same settings differ: %s", diff)
	}
	for _, f := range config.Fields() {
		block, _, _ := strings.Cut(f.Key, ".")
		if !slices.Contains([]string{"bootstrapMaxChars", "skills", "cacheFriendly", "recall", "compaction", "contextPruning", "turns"}, block) {
			continue
		}
		value, known := values[f.Key]
		if !known {
			t.Errorf("no value to try for %s", f.Key)
			continue
		}
		if cmp.Equal(before, options(f.Key+"="+value)) {
			t.Errorf("%s=%s changes nothing", f.Key, value)
		}
		delete(values, f.Key)
	}
	if len(values) > 0 {
		t.Errorf("no such settings: %v", values)
	}
}
