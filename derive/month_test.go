package derive_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"kioku/derive"
	"kioku/derive/unit"
	"kioku/llm"
	"kioku/memory"
	"kioku/server"
)

// japaneseDay is a day of a Japanese conversation, with what a model makes of it in words of its own.
type japaneseDay struct {
	said, answered string
	// loop paraphrases what the user said.
	loop string
	// text, emotion and intensity are the reflection of the model, and tag its topic.
	text, emotion string
	intensity     float64
	tag           string
}

// japaneseDays are those of a week, which come again with another number.
var japaneseDays = []japaneseDay{
	{"今日はUnityでキャラクターの動きを%dつ作った。明日はAnimatorの設計を直したい。", "お疲れさま。続きはまた明日。", "Animator設計の修正", "Unityの開発が進んで満足している。", "joy", 0.6, "開発"},
	{"締切の%d件のレビューがGitHubにたまっていて、正直つらい。", "少しずつ片付けましょう。", "GitHubにたまったレビューを片付ける", "仕事がたまって落ち込んでいる。", "sadness", 0.7, "仕事"},
	{"田中さんとZoomで打ち合わせ。%d月の予定を決め直すことになった。", "日程を確認しますね。", "田中さんと予定を決め直す", "淡々と予定を調整した。", "neutral", 0.1, "仕事"},
	{"電車で%d回も足を踏まれて、腹が立った。", "それは災難でした。", "", "混んだ電車に怒っている。", "anger", 0.5, "通勤"},
	{"娘がPokémonの絵を%d枚くれた。額を買わないと。", "素敵ですね。", "Pokémonの絵の額を買う", "娘の絵を喜んでいる。", "joy", 0.9, "家族"},
	{"IKEAで本棚を見た。%d段のを来週買う。", "高さを測っておきましょう。", "IKEAの本棚の購入", "買い物を楽しみにしている。", "joy", 0.4, "家"},
	{"健康診断の結果が届いた。再検査の予約を%d日までに取る。", "早めに取りましょう。", "再検査の予約を取る", "結果を不安に思っている。", "fear", 0.6, "健康"},
}

// paraphrasing answers a request of derivation as a model does that uses words of its own.
func paraphrasing(req llm.Request) (llm.Response, error) {
	type object = map[string]any
	if strings.HasPrefix(req.System, "Task: summary") {
		return say(`{"summary_text": "その日の出来事と気持ちが語られた。", "key_events": [], "relationship_state": "毎晩その日のことを話している。", "notes": null}`), nil
	}
	var episodes []object
	for line := range strings.Lines(req.Messages[0].Text) {
		line = strings.TrimRight(line, "\n")
		if m := shownEpisode.FindStringSubmatch(line); m != nil {
			episodes = append(episodes, object{"unit_id": json.Number(m[1]), "entities": []object{}, "relations": []object{}, "facts": []object{}, "loops": []object{}, "reflection": nil})
		}
		m := shownLine.FindStringSubmatch(line)
		if m == nil || len(episodes) == 0 {
			continue
		}
		last := episodes[len(episodes)-1]
		for _, d := range japaneseDays {
			if first, _, _ := strings.Cut(d.said, "%d"); !strings.Contains(m[3], first) {
				continue
			}
			if d.loop != "" {
				last["loops"] = append(last["loops"].([]object), object{"status": "open", "unit_id": nil, "due_at": nil, "loop_text": d.loop, "confidence": 0.8,
					"evidence": []object{{"line": json.Number(m[1]), "quote": strings.TrimPrefix(m[3], "- User: ")}}})
			}
			last["reflection"] = object{"reflection_text": d.text, "emotion_label": d.emotion, "emotion_intensity": d.intensity, "topic_tags": []string{d.tag},
				"salience_score": 0.6, "confidence": 0.8}
		}
	}
	answer, err := json.Marshal(object{"episodes": episodes})
	return say(string(answer)), err
}

// A month of a Japanese conversation runs through derivation with a model that paraphrases: nothing of it is refused, what is open is known
// with its quote, tags are topics, and the mood of a week is drawn from HTTP.
func TestAMonthOfJapaneseConversation(t *testing.T) {
	t.Parallel()
	var notes []string
	first := time.Date(2026, 10, 26, 0, 0, 0, 0, time.UTC) // a Monday
	for n := range 28 {
		day, d := first.AddDate(0, 0, n).Format(time.DateOnly), japaneseDays[n%7]
		notes = append(notes, "memory/"+day+".md", fmt.Sprintf("# %s\n\n## 21:00\n- User: %s\n- Assistant: %s\n", day, fmt.Sprintf(d.said, n+2), d.answered))
	}
	m := &fakeModel{answer: func(_ int, req llm.Request) (llm.Response, error) { return paraphrasing(req) }}
	w := newWorld(t, notes...).withModel(m, func(o *derive.Options) { o.Reflect = true })
	w.derive()
	st, err := w.Status(t.Context())
	if err != nil || len(st.Rejected) > 0 || len(st.Parked) > 0 {
		t.Errorf("refused %v, parked %v, %v", st.Rejected, st.Parked, err)
	}
	open := map[string]bool{}
	for _, u := range w.units(memory.KindLoop) {
		open[u.Loop.Text] = true
		if len(u.Evidence) == 0 || !strings.Contains(u.Evidence[0].Quote, "。") {
			t.Errorf("%s has no quote: %+v", u.Text, u.Evidence)
		}
	}
	for _, d := range japaneseDays {
		if d.loop != "" && !open[d.loop] {
			t.Errorf("%q is not open", d.loop)
		}
	}
	topics, err := w.Entities(t.Context(), unit.EntityFilter{Type: "TOPIC", Name: "仕事"})
	if err != nil || len(topics.Entities) != 1 || topics.Entities[0].Mentions != 8 {
		t.Errorf("topics: %+v, %v", topics, err)
	}
	s, err := server.New(server.Options{Agents: map[string]server.Memory{"main": w.memory}, Derivers: map[string]server.Deriver{"main": w.Service}})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://kioku/v1/derive/reflections?agent=main&from=2026-11-02&to=2026-11-08", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.LocalOperations().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	var got unit.Reflections
	if err != nil || json.Unmarshal(body, &got) != nil || len(got.Days) != 7 {
		t.Fatalf("%d: %s, %v", resp.StatusCode, body, err)
	}
	for i, want := range []float64{0.6, -0.7, 0, -0.5, 0.9, 0.4, -0.6} {
		if got.Days[i].Mood != want {
			t.Errorf("%s has the mood %v, want %v", got.Days[i].Date, got.Days[i].Mood, want)
		}
	}
}
