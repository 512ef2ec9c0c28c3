package secrets

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// rule describes one kind of secret.
type rule struct {
	// kind of the secret, and prefix, which stands for it in a reference; an empty prefix means the kind.
	kind, prefix string
	// pattern matches it. The first group that takes part is the secret, or the whole match if there is none.
	pattern *regexp.Regexp
	// hints are parts of which a line in lower case has at least one if the pattern matches, so that most patterns are not tried.
	hints []string
	// wide says that the pattern matches more than one line.
	wide bool
	// accept reports whether what the pattern matched is a secret; nil means that it is.
	accept func(secret string) bool
	// hidden says that a reference tells nothing of the secret itself, because people choose it or its end says nothing.
	hidden bool
}

// rules are all kinds, the more specific first.
var rules = []rule{
	{kind: "private key", pattern: regexp.MustCompile(`-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-[^-])*(?:-----END [A-Z0-9 ]+-----)?`),
		hints: []string{"private key"}, wide: true, accept: hasKeyData, hidden: true},
	{kind: "Anthropic key", prefix: "sk-ant-", pattern: regexp.MustCompile(`\bsk-ant-[A-Za-z0-9_-]{20,}`), hints: []string{"sk-ant-"}, accept: isMixed},
	{kind: "OpenAI key", prefix: "sk-", pattern: regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{20,}`), hints: []string{"sk-"}, accept: isMixed},
	{kind: "AWS key", prefix: "AKIA", pattern: regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`), hints: []string{"akia", "asia"}, accept: isReal},
	{kind: "GitHub token", prefix: "gh_", pattern: regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{22,}`),
		hints: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, accept: isMixed},
	{kind: "GitLab token", prefix: "glpat-", pattern: regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`), hints: []string{"glpat-"}, accept: isMixed},
	{kind: "Slack token", prefix: "xox", pattern: regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}`),
		hints: []string{"xox", "xapp-"}, accept: isMixed},
	{kind: "Google key", prefix: "AIza", pattern: regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}`), hints: []string{"aiza"}, accept: isMixed},
	{kind: "Google token", prefix: "ya29.", pattern: regexp.MustCompile(`\bya29\.[A-Za-z0-9_-]{20,}`), hints: []string{"ya29."}, accept: isMixed},
	{kind: "Stripe key", prefix: "sk_", pattern: regexp.MustCompile(`\b(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}`),
		hints: []string{"k_live_", "k_test_", "whsec_"}, accept: isMixed},
	{kind: "access token", prefix: "token", pattern: regexp.MustCompile(`\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{30,}|` +
		`dop_v1_[a-f0-9]{64}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|\d{8,10}:AA[A-Za-z0-9_-]{33})`),
		hints: []string{"npm_", "pypi-", "hf_", "gsk_", "dop_v1_", "sg.", ":aa"}, accept: isMixed},
	{kind: "JSON web token", prefix: "eyJ", pattern: regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}`), hints: []string{"eyj"}},
	{kind: "bearer token", prefix: "token", pattern: regexp.MustCompile(`(?i)\b(?:bearer|basic)[ \t]+([A-Za-z0-9._~+/-]{16,}=*)`), hints: []string{"bearer", "basic"}, accept: isRandom},
	{kind: "password in an address", prefix: "password", pattern: regexp.MustCompile(`\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@"'<>]{0,64}:([^\s/@"'<>]{6,128})@`),
		hints: []string{"://"}, accept: isPassword, hidden: true},
	{kind: "PIN", pattern: regexp.MustCompile(`(?i)(?:\bpin(?:[ -]?(?:code|number|nummer))?|passcode|geheimzahl|暗証番号|비밀번호|pin码)` + joint + `(\d{4,12})\b`),
		hints: []string{"pin", "passcode", "geheimzahl", "暗証番号", "비밀번호"}, hidden: true},
	{kind: "password", pattern: regexp.MustCompile(`(?i)(?:` + strings.Join(passwordNames, "|") + `|\bpwd|\bpin|\bmdp|[a-z0-9]_pwd)(?:` + joint + "|" + cell + ")" + value),
		hints: append([]string{"pwd", "pin", "mdp"}, passwordNames...), accept: isPassword, hidden: true},
	{kind: "secret", prefix: "key", pattern: regexp.MustCompile(`(?i)(?:secret|token|api[_ -]?key|access[_ -]?key|private[_ -]?key|secret[_ -]?key|credentials?|トークン|秘密鍵|apiキー|令牌|密钥|密鑰)` + joint + value),
		hints: []string{"secret", "token", "key", "credential", "トークン", "秘密鍵", "令牌", "密钥", "密鑰"}, accept: isRandom},
	{kind: "secret", prefix: "key", pattern: regexp.MustCompile(`(?i)(?:secret|token|api[_ -]?key|access[_ -]?key|private[_ -]?key)[ \t]+["'` + "`" + `]?([a-z0-9+/_-]{20,200})`),
		hints: []string{"secret", "token", "key"}, accept: isPlainlyRandom},
}

// passwordNames are the names of passwords in lower case, in as many languages as people write notes in.
var passwordNames = []string{
	"password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "mot de passe", "contraseña", "senha", "wachtwoord", "lösenord",
	"passord", "adgangskode", "salasana", "hasło", "heslo", "jelszó", "parola", "şifre", "пароль", "סיסמה", "كلمة المرور", "كلمة السر", "पासवर्ड",
	"รหัสผ่าน", "mật khẩu", "kata sandi", "パスワード", "暗証番号", "密码", "密碼", "口令", "비밀번호",
}

const (
	// joint matches what stands between a name and its value.
	joint = "[\"'`*]{0,3}(?:[ \\t\u00a0\u202f]*[:=：＝][*_]{0,2}[ \\t\u00a0\u202f]*|[ \\t]+(?:is|was|ist|lautet|est|es|é|è|är|er|to)[ \\t]*:?[ \\t]+|[ \\t]*[はが是为為][ \\t]*[:：]?[ \\t]*)[\"'`*「“]{0,3}"
	// cell matches what stands between a name and its value in the next cell of a table.
	cell = "[\"'`*_]{0,3}[ \\t]*\\|[ \\t]*[\"'`*_]{0,3}"
	// value matches a value, and is a group.
	value = "([!#-&(-+.-:<-Z\\\\^_a-z|~-]{6,200})"
)

// nextParameter matches where the value of a parameter of an address ends.
var nextParameter = regexp.MustCompile(`&[A-Za-z_][A-Za-z0-9_]*=`)

// ends are the characters that a sentence goes on with behind a value.
const ends = ".,;:?*"

// find returns the secrets of a kind in a text, which comes in lower case too.
func (r rule) find(text, lower string) []Found {
	if !r.hinted(lower) {
		return nil
	}
	if r.wide {
		return r.match(text, 0)
	}
	var out []Found
	at := 0
	for line := range strings.Lines(text) {
		low, rest, _ := strings.Cut(lower, "\n")
		if lower = rest; r.hinted(low) {
			out = append(out, r.match(line, at)...)
		}
		at += len(line)
	}
	return out
}

// hinted reports whether the pattern may match a text in lower case.
func (r rule) hinted(lower string) bool {
	return slices.ContainsFunc(r.hints, func(h string) bool { return strings.Contains(lower, h) })
}

// match returns the secrets of a kind in a text that begins at an offset.
func (r rule) match(text string, at int) []Found {
	var out []Found
	for _, m := range r.pattern.FindAllStringSubmatchIndex(text, -1) {
		start, end := m[0], m[1]
		if len(m) > 2 && m[2] >= 0 {
			start, end = m[2], m[3]
			if next := nextParameter.FindStringIndex(text[start:end]); next != nil {
				end = start + next[0]
			}
			end = start + len(strings.TrimRight(text[start:end], ends))
		}
		secret := text[start:end]
		if r.accept != nil && !r.accept(secret) || strings.HasPrefix(text[end:], "...") || strings.HasPrefix(text[end:], "…") {
			continue
		}
		out = append(out, Found{Kind: r.kind, Start: at + start, End: at + end, Reference: r.reference(secret)})
	}
	return out
}

const (
	// minTold is the length of a secret from which on a reference has its last characters.
	minTold = 20
	// toldChars is the number of these characters.
	toldChars = 4
)

// reference returns what takes the place of a secret.
func (r rule) reference(secret string) string {
	end := ""
	if len(secret) >= minTold && !r.hidden {
		end = "…" + secret[len(secret)-toldChars:]
	}
	return "[secret " + cmp.Or(r.prefix, r.kind) + end + " left out]"
}
