package secrets_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/secrets"
)

// part puts two halves together, so that no scanner of source code takes these texts for keys that were leaked.
func part(a, b string) string { return a + b }

// Hazard C13: secrets of the known shapes are found, in notes of any language, and the reference tells their kind and at most
// their last four characters.
func TestRedactReplacesSecretsByReferences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"OpenAI":         {"key " + part("sk-", "proj-Ab3dE6gH9jK2mN5pQ8sT1vX4z9f2a") + ".", "key [secret sk-…9f2a left out]."},
		"Anthropic":      {part("sk-ant-", "api03-Xy7Qp2Lm9Rt4Vw6Bz1Nc8Kd3Fg5Hj0-aaA1"), "[secret sk-ant-…aaA1 left out]"},
		"AWS":            {"id " + part("AKIA", "5Q7T2M9X4B6C8D1Z"), "id [secret AKIA…8D1Z left out]"},
		"GitHub":         {part("ghp_", "q8W2e4R6t1Y3u5I7o9P0a2S4d6F8g1H3j5K7"), "[secret gh_…j5K7 left out]"},
		"Slack":          {part("xoxb-", "2837465019-9182736450-aB3dE5fG7hJ9kL1mN3pQ5rS7"), "[secret xox…5rS7 left out]"},
		"Google":         {part("AIza", "SyD3fGh5Jk7Lm9Np1Qr3St5Uv7Wx9Yz1Ab2"), "[secret AIza…1Ab2 left out]"},
		"Stripe":         {part("sk_live_", "4eC39HqLyjWDarjtT1zdp7dc"), "[secret sk_…p7dc left out]"},
		"web token":      {"jwt " + part("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"), "jwt [secret eyJ…3I9P left out]"},
		"bearer":         {"Authorization: Bearer " + part("q8W2e4R6t1Y3u5I7", "o9P0a2S4d6F8"), "Authorization: Bearer [secret token…d6F8 left out]"},
		"private key":    {"before\n" + part("-----BEGIN RSA ", "PRIVATE KEY-----\nMIIEowIBAAKCAQEA7q8W2e4R6t1Y3u5I7o9P\n-----END RSA PRIVATE KEY-----") + "\nafter", "before\n[secret private key left out]\nafter"},
		"cut off key":    {part("-----BEGIN ", "PRIVATE KEY-----\nMIIEowIBAAKCAQEA7q8W2e4R6t1Y3u5I7o9P"), "[secret private key left out]"},
		"env":            {"DB_PASSWORD=h8Kq2!xZ\nAPI_KEY=\"9fA3kd82LmQ0xZ71\"", "DB_PASSWORD=[secret password left out]\nAPI_KEY=\"[secret key left out]\""},
		"exported":       {"export STRIPE_SECRET='k3J9s8D7f6G5h4J3k2L1'", "export STRIPE_SECRET='[secret key…k2L1 left out]'"},
		"URL":            {"postgres://ines:Tr0ub4dor@db/notes", "postgres://ines:[secret password left out]@db/notes"},
		"sentence":       {"Her password is Tr0ub4dor&3, she said.", "Her password is [secret password left out], she said."},
		"Japanese":       {"Wi-Fi のパスワードは Sakura-2024x です。", "Wi-Fi のパスワードは [secret password left out] です。"},
		"Japanese colon": {"パスワード：h8Kq2!xZ", "パスワード：[secret password left out]"},
		"Chinese":        {"服务器密码是h8Kq2!xZ。", "服务器密码是[secret password left out]。"},
		"no user":        {"redis://:Tr0ub4dor9@cache:6379", "redis://:[secret password left out]@cache:6379"},
		"PIN":            {"Her PIN is 483920, PIN code: 4839.", "Her PIN is [secret PIN left out], PIN code: [secret PIN left out]."},
		"Japanese PIN":   {"暗証番号: 4839、暗証番号は4839です", "暗証番号: [secret PIN left out]、暗証番号は[secret PIN left out]です"},
		"Korean PIN":     {"비밀번호: 4839", "비밀번호: [secret PIN left out]"},
		"digits only":    {"password: 48392017", "password: [secret password left out]"},
		"my":             {"password: MyDog2024!", "password: [secret password left out]"},
		"test":           {"password: test1234X", "password: [secret password left out]"},
		"your":           {"password = Your$ecret9", "password = [secret password left out]"},
		"German":         {"Passwort: Sommer2024!, das Kennwort lautet h8Kq2!xZ", "Passwort: [secret password left out], das Kennwort lautet [secret password left out]"},
		"French":         {"mot de passe\u00a0: Soleil2024; le mot de passe est h8Kq2!xZ", "mot de passe\u00a0: [secret password left out]; le mot de passe est [secret password left out]"},
		"Spanish":        {"contraseña: Verano2024, CONTRASEÑA es h8Kq2!xZ", "contraseña: [secret password left out], CONTRASEÑA es [secret password left out]"},
		"Portuguese":     {"a senha é Verao2024", "a senha é [secret password left out]"},
		"Russian":        {"Пароль: h8Kq2!xZ", "Пароль: [secret password left out]"},
		"Arabic":         {"كلمة المرور: h8Kq2!xZ", "كلمة المرور: [secret password left out]"},
		"Thai":           {"รหัสผ่าน: h8Kq2!xZ", "รหัสผ่าน: [secret password left out]"},
		"a bare key":     {"api key 4f3e2d1c0b9a8f7e6d5c4b3a2f1e0d9c", "api key [secret key…0d9c left out]"},
		"in bold":        {"**Password:** h8Kq2!xZ", "**Password:** [secret password left out]"},
		"in a table":     {"| Wi-Fi | password | h8Kq2!xZ |", "| Wi-Fi | password | [secret password left out] |"},
		"a query":        {"user=ines&password=A3ddj3w&service=hub", "user=ines&password=[secret password left out]&service=hub"},
		"twice":          {"password: h8Kq2!xZ and password: p9Wq3!yA", "password: [secret password left out] and password: [secret password left out]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, found := secrets.Redact(c.text)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			for _, f := range found {
				if secret := c.text[f.Start:f.End]; strings.Contains(got, secret) {
					t.Errorf("%q is still there", secret)
				}
			}
			if again, more := secrets.Redact(got); again != got || len(more) > 0 {
				t.Errorf("the references are replaced again: %q", again)
			}
		})
	}
}

// Ordinary notes, and texts that speak of secrets, come back as they are.
func TestRedactLeavesOrdinaryText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "Ines prefers mail.", "The password is in the safe.", "パスワードは金庫にある。", "密码在保险箱里。",
		"Set API_KEY=your-api-key-1234 first.", "OPENAI_API_KEY=sk-...", "token: ${GITHUB_TOKEN}", "password = os.Getenv(\"DB_PASSWORD_1\")",
		"scikit-learn, sk-learn-wrapper-for-everything-else", "class sk-loading-indicator-container-wide",
		part("AKIA", "IOSFODNN7EXAMPLE"), "postgres://user:password@localhost/db", "-----BEGIN PRIVATE KEY----- is how it begins",
		"commit 3f786850e387550fdab836ed7e6dc881de23001b", "id 123e4567-e89b-12d3-a456-426614174000", "secret: tokens are counted in tiktoken",
		"The token budget is 20000 a day.", "max_tokens: 4096", "The bearer of this letter", "basic authentication methods", "tokenizer: cl100k_base",
		"[secret sk-…9f2a left out]", "https://example.org/a:b@c", "accessToken: \"9cbaf023786cd7...\"", "password: h8Kq2…", "password: my-password-1",
		"password = mypass123", "\"token\": \"base64url-token\"", "pin: 13", "| xAI | `XAI_API_KEY` | `xai/grok-4.7-fast2` |", "The PIN is on the card.", "token getAccessTokenFromOAuth2Provider", "Das Passwort ist im Tresor.",
		"The secret 2024-01-05-meeting-notes-final-v2 file", "el mot de passe est long", "password: 123456", "api key your_api_key_12345678901",
	} {
		if got, found := secrets.Redact(text); got != text || len(found) > 0 {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// A secret stays if the caller knows it, and the others do not.
func TestRedactExceptLeavesWhatIsKnown(t *testing.T) {
	t.Parallel()
	got, found := secrets.RedactExcept("password: h8Kq2!xZ, token: q8W2e4R6t1Y3u5I7o9P0", func(secret string) bool { return secret == "h8Kq2!xZ" })
	if want := "password: h8Kq2!xZ, token: [secret key…o9P0 left out]"; got != want || len(found) != 1 {
		t.Errorf("%q, %v", got, found)
	}
}

// FuzzRedact: no secret that was found stands in the place where it was, and the rest of the text is as it was, whatever the text.
func FuzzRedact(f *testing.F) {
	f.Add("password: h8Kq2!xZ " + part("sk-", "proj-Ab3dE6gH9jK2mN5pQ8sT1vX4z9f2a"))
	f.Add("Bearer bearer token=token=q8W2e4R6t1Y3u5I7o9P0=")
	f.Fuzz(func(t *testing.T, text string) {
		got, found := secrets.Redact(text)
		want, at := "", 0
		for _, f := range found {
			if f.Start < at || f.Start >= f.End || f.End > len(text) || strings.Contains(f.Reference, text[f.Start:f.End]) {
				t.Fatalf("%+v in %q", f, text)
			}
			want, at = want+text[at:f.Start]+f.Reference, f.End
		}
		if want += text[at:]; got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		for _, f := range secrets.Find(got) {
			if strings.Contains(got[f.Start:f.End], "left out]") {
				t.Errorf("the reference in %q is taken for a secret: %+v", got, f)
			}
		}
	})
}
