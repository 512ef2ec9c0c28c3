package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/cmd/kioku/config"
	"kioku/internal/modelhttp"
	"kioku/internal/testkit"
)

func TestSecretsAreReadFromTheEnvironmentAndFiles(t *testing.T) {
	t.Parallel()
	src := write(t, "remote:\n  apiKey: env:MY_KEY\n  headers: {x-extra: \"file:extra.txt\", X-Plain: as it is}\n")
	testkit.Must(t, os.WriteFile(filepath.Join(filepath.Dir(src.File), "extra.txt"), []byte("from file\n"), 0o600))
	src.Env = append(src.Env, "MY_KEY=k-123")
	c := load(t, src)
	if c.Embed.APIKey != "k-123" || c.Embed.Headers["X-Extra"] != "from file" || c.Embed.Headers["X-Plain"] != "as it is" {
		t.Errorf("key %q, headers %q", c.Embed.APIKey, c.Embed.Headers)
	}
}

func TestSecretThatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty")
	testkit.Must(t, os.WriteFile(empty, nil, 0o600))
	for secret, want := range map[string]string{
		"env:NO_SUCH_KEY":   "remote.apiKey: the environment variable NO_SUCH_KEY is not set",
		"file:/no/such/key": "/no/such/key",
		"file:" + empty:     empty + " is empty",
	} {
		t.Run(secret, func(t *testing.T) {
			_, err := config.Load(write(t, "remote: {apiKey: \""+secret+"\"}\n"))
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "config.yaml:1:10: ") {
				t.Errorf("%s: got %v, want %s", secret, err, want)
			}
		})
	}
}

// Hazard C13: a key that stands in the settings is shown to nobody.
func TestValuesShowReferencesButNoSecrets(t *testing.T) {
	t.Parallel()
	src := write(t, "remote:\n  apiKey: sk-verysecret\n  headers: {Authorization: Bearer verysecret, X-Ref: \"env:MY_REF\"}\n")
	src.Env = append(src.Env, "MY_REF=alsosecret")
	c := load(t, src)
	for _, v := range c.Values() {
		if strings.Contains(v.Text, "verysecret") || strings.Contains(v.Text, "alsosecret") {
			t.Errorf("%s shows %q", v.Key, v.Text)
		}
	}
	if text, _ := value(t, c, "remote.headers"); text != "Authorization=(hidden),X-Ref=env:MY_REF" {
		t.Errorf("headers are shown as %q", text)
	}
}

// Hazard E02: a key of the environment goes only to the own server of the provider that is set, and errors can say where the key is
// from.
func TestEmbedKeyOfTheEnvironmentGoesOnlyToItsProvider(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want, source string }{
		{"provider: openai\n", "sk-env", "the environment variable OPENAI_API_KEY"},
		{"provider: gemini\n", "gm-env", "the environment variable GEMINI_API_KEY"},
		{"provider: voyage\n", "vo-env", "the environment variable VOYAGE_API_KEY"},
		{"provider: mistral\n", "mi-env", "the environment variable MISTRAL_API_KEY"},
		{"provider: ollama\n", "", ""},
		{"provider: openai\nremote: {baseUrl: \"http://127.0.0.1:1\"}\n", "", ""},
		{"provider: gemini\nremote: {baseUrl: \"http://127.0.0.1:1\"}\n", "", ""},
		{"provider: openai\nremote: {apiKey: mine}\n", "mine", "remote.apiKey (FILE:2:10)"},
		{"provider: gemini\nremote: {apiKey: \"env:OPENAI_API_KEY\"}\n", "sk-env", "remote.apiKey (FILE:2:10)"},
		{"provider: hash\n", "", ""},
		{"model: m\n", "", ""},
	} {
		src := write(t, tc.text)
		src.Env = append(src.Env, "OPENAI_API_KEY=sk-env", "GEMINI_API_KEY=gm-env", "VOYAGE_API_KEY=vo-env", "MISTRAL_API_KEY=mi-env")
		e := load(t, src).Embed
		if source := strings.ReplaceAll(e.KeySource, src.File, "FILE"); e.APIKey != tc.want || source != tc.source {
			t.Errorf("%q: the key is %q from %q, want %q from %q", tc.text, e.APIKey, source, tc.want, tc.source)
		}
	}
}

// Every run of a process shares one network, which is offline if the settings say so.
func TestLoadMakesTheNetworkOffline(t *testing.T) {
	t.Parallel()
	src := write(t, "workspace: .\n")
	src.Network = modelhttp.NewNetwork(modelhttp.NetworkOptions{})
	if c := load(t, src); c.Network != src.Network || c.Network.Offline() || c.Embed.Transport == nil || c.LLM.Transport == nil {
		t.Errorf("%+v", c.Network)
	}
	src.Env = append(src.Env, "KIOKU_OFFLINE=true")
	if c := load(t, src); c.Network != src.Network || !src.Network.Offline() {
		t.Error("KIOKU_OFFLINE has no effect")
	}
}
