package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"kioku/cmd/kioku/internal/modelcheck"
	"kioku/cmd/kioku/internal/modelstore"
	"kioku/cmd/kioku/internal/render"
	"kioku/embed"
	"kioku/embed/local"
	"kioku/internal/modelhttp"
)

const (
	// answerWait is how long a provider may take for three short texts.
	answerWait = 20 * time.Second
	// slowAnswer is a time that searches would notice.
	slowAnswer = 2 * time.Second
	// speedWait is for how long the speed of a local model is measured.
	speedWait = time.Second
)

// checkProvider looks which provider there is, and asks it for the vectors of a paraphrase and of an unrelated sentence.
func checkProvider(ctx context.Context, s *Subject) []Finding {
	e := s.Conf.Embed
	switch {
	case s.EmbedderErr != nil:
		return one("provider", Fail, s.EmbedderErr.Error(), "correct the setting; kioku config list shows all")
	case e.Provider == "none":
		return one("provider", OK, "none: notes are found by their words ("+e.Reason+")", "")
	}
	all := one("provider", OK, fmt.Sprintf("%s (%s)%s", e.Provider, e.Reason, keyOf(s)), "")
	if e.Provider == "local" {
		return all // checkModel looks at it
	}
	return append(all, askProvider(ctx, s)...)
}

// keyOf says where the key of the provider was found.
func keyOf(s *Subject) string {
	e := s.Conf.Embed
	switch {
	case e.Provider == "hash" || e.Provider == "local":
		return ""
	case e.APIKey == "":
		return "; no key"
	}
	text := "; key from " + e.KeySource
	if v, err := s.Conf.Value("remote.apiKey"); err == nil && (strings.HasPrefix(v.Text, "env:") || strings.HasPrefix(v.Text, "file:")) {
		text += ", " + v.Text
	}
	return text
}

// askProvider embeds three sentences.
func askProvider(ctx context.Context, s *Subject) []Finding {
	asking, cancel := context.WithTimeoutCause(ctx, answerWait, fmt.Errorf("no answer within %s", answerWait))
	defer cancel()
	s.Embedder.AllowProbe()
	sanity, err := modelcheck.CheckSanity(asking, documents(s.Embedder))
	switch {
	case errors.Is(err, modelhttp.ErrOffline):
		return one("provider.answer", Warn, "it was not asked, because offline is set", "unset offline, or add a local model: kioku model add PATH")
	case err != nil:
		return one("provider.answer", Fail, err.Error(), adviceFor(s, err))
	}
	text := fmt.Sprintf("%d dimensions, %s for three sentences, cosine of a paraphrase %.2f and of a stranger %.2f",
		sanity.Dims, render.ThreeDigits(sanity.Took), sanity.Near, sanity.Far)
	switch {
	case !sanity.Sound() && s.Embedder.Weak():
		return one("provider.answer", Warn, text+": these vectors are of no model", "kioku model add minilm adds one")
	case !sanity.Sound():
		return one("provider.answer", Fail, text+": its vectors do not tell a paraphrase from a stranger", "choose an embedding model with kioku config set model NAME")
	case sanity.Took > slowAnswer:
		return one("provider.answer", Warn, text, "searches wait for it; a local model answers in milliseconds: kioku model add minilm")
	}
	return one("provider.answer", OK, text, "")
}

// adviceFor returns what to do about a provider that gives no vectors.
func adviceFor(s *Subject, err error) string {
	text := err.Error()
	contains := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
	}
	refusal, _ := errors.AsType[*modelhttp.Error](err)
	switch {
	case contains("refused", "no such host", "no answer", "timeout", "unreachable"):
		if u, parseErr := url.Parse(s.Conf.Embed.BaseURL); parseErr == nil && u.Host != "" {
			return fmt.Sprintf("start the server at %s, or correct remote.baseUrl", u.Host)
		}
		return "look whether this machine is online; searches use words meanwhile"
	case refusal != nil && (refusal.Status == http.StatusUnauthorized || refusal.Status == http.StatusForbidden), contains("key"):
		return "set the key with kioku config set remote.apiKey env:NAME"
	case contains("dimensions"):
		return "kioku config set dims 0 takes the model's own number"
	}
	return "correct the provider's settings; kioku config list shows all"
}

// documents embeds texts with a client.
func documents(c *embed.Client) modelcheck.Embed {
	return func(ctx context.Context, texts []string) ([][]float32, error) {
		embedded, err := c.Documents(ctx, texts)
		vectors := make([][]float32, len(embedded))
		for i, e := range embedded {
			if vectors[i] = e.Vector; e.Err != nil && err == nil {
				err = e.Err
			}
		}
		return vectors, err
	}
}

// checkModel looks at the files of the local model, has it compute, and says how long it will take to embed the rest of the notes.
func checkModel(ctx context.Context, s *Subject) []Finding {
	if s.Conf.Embed.Provider != "local" {
		return nil
	}
	m, err := s.Conf.Models().At(s.Conf.Embed.ModelDir)
	if err == nil && len(m.Files) > 0 {
		err = m.Verify(ctx)
	}
	if err != nil {
		next := "kioku model list shows those that were added; kioku model add minilm adds one"
		if _, after, ok := strings.Cut(err.Error(), "add it again with: "); ok {
			next = after
		}
		return one("model.files", Fail, fmt.Sprintf("the model %s cannot be used, so searches use words: %v", m.Name, err), next)
	}
	all := one("model.files", OK, fmt.Sprintf("%s: its files are as they were when it was added", m.Name), "")
	if len(m.Files) == 0 {
		all = one("model.files", OK, m.Dir+" was not added, so there are no checksums to compare", "")
	}
	return append(all, runModel(ctx, s, m)...)
}

// runModel measures the model.
func runModel(ctx context.Context, s *Subject, m modelstore.Model) []Finding {
	const again = "kioku model check says more; kioku model add --replace adds it again"
	model, err := local.Open(m.Dir, local.Options{})
	if err != nil {
		return one("model.vectors", Fail, err.Error(), again)
	}
	defer model.Close()
	embed := modelcheck.With(model)
	sanity, err := modelcheck.CheckSanity(ctx, embed)
	if err != nil {
		return one("model.vectors", Fail, err.Error(), again)
	}
	speed, err := modelcheck.Speed(ctx, embed, speedWait)
	if err != nil {
		return one("model.vectors", Fail, err.Error(), again)
	}
	text := fmt.Sprintf("%d dimensions, %s texts of 250 characters a second here, cosine of a paraphrase %.2f and of a stranger %.2f%s",
		sanity.Dims, render.Rounded(speed), sanity.Near, sanity.Far, remaining(s, speed))
	if !sanity.Sound() {
		return one("model.vectors", Fail, text+": its vectors do not tell a paraphrase from a stranger", again)
	}
	return one("model.vectors", OK, text, "")
}

// textsPerChunk is about how many texts of 250 characters are computed for a chunk: its windows, and its own as long as them.
const textsPerChunk = 12

// remaining says how long it takes to embed the chunks without a vector; nothing if there are none.
func remaining(s *Subject, perSecond float64) string {
	if s.Status == nil || perSecond <= 0 {
		return ""
	}
	left := s.Status.Index.Chunks - s.Status.Embedded
	if left <= 0 {
		return ""
	}
	wait := time.Duration(float64(left) * textsPerChunk / perSecond * float64(time.Second))
	return fmt.Sprintf("; about %s for the %s without vectors", max(wait.Round(time.Second), time.Second), render.Count(left, "passage"))
}

// checkLanguages compares the languages of the notes with those that the model knows.
func checkLanguages(ctx context.Context, s *Subject) []Finding {
	provider := s.Conf.Embed.Provider
	if s.PlaceErr != nil || s.Embedder == nil || provider == "none" || provider == "hash" || !s.Embedder.Health().Healthy || len(s.Paths) == 0 {
		return nil
	}
	shares, err := modelcheck.WorkspaceLanguages(s.Place.Workspace, s.Paths)
	if err != nil || len(shares) == 0 {
		return nil
	}
	known, err := modelcheck.Languages(ctx, documents(s.Embedder))
	if err != nil {
		return one("model.languages", Warn, err.Error(), "kioku model check says more")
	}
	text := "the notes are in " + modelcheck.Percent(shares)
	if unknown, _ := modelcheck.Unknown(shares, known); len(unknown) > 0 {
		return one("model.languages", Warn, text+"; the model does not know "+strings.Join(unknown, ", ")+", so notes in it are found by their words only",
			"kioku model add multilingual-e5-small")
	}
	return one("model.languages", OK, text, "")
}
