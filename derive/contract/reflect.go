package contract

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

const (
	maxReflection = 600
	maxTags       = 8
	maxTag        = 40
)

// emotions are the labels of a reflection.
var emotions = []string{"joy", "sadness", "anger", "fear", "neutral"}

// Reflection is what a model thinks of an episode. It orders what is remembered; it is evidence of nothing.
type Reflection struct {
	// Text has at most 600 characters.
	Text string `json:"text"`
	// Emotion is joy, sadness, anger, fear or neutral.
	Emotion string `json:"emotion"`
	// Intensity of the emotion in [0,1].
	Intensity float64 `json:"intensity"`
	// Salience says how much the episode matters, and Confidence how sure the model is, both in [0,1].
	Salience   float64 `json:"salience"`
	Confidence float64 `json:"confidence"`
	// Tags are at most 8, each once, in alphabetical order.
	Tags []string `json:"tags,omitempty"`
}

// readReflection checks a reflection, nil if one of its values is not allowed.
func readReflection(i *item, said saidReflection) *Reflection {
	reflection := &Reflection{Text: i.line("reflection_text", said.Text, maxReflection), Emotion: i.choice("emotion_label", said.Emotion, emotions),
		Intensity: i.share("emotion_intensity", said.Intensity), Salience: i.share("salience_score", said.Salience),
		Confidence: i.share("confidence", said.Confidence)}
	for n, tag := range said.Tags {
		tag = cleanLine(fold(tag).text)
		path := fmt.Sprintf("%s[%d]", i.at("topic_tags"), n)
		switch {
		case tag == "" || utf8.RuneCountInString(tag) > maxTag:
			i.r.drop(path, ReasonText, fmt.Sprintf("must have 1 to %d characters", maxTag))
		case slices.Contains(reflection.Tags, tag):
			i.r.drop(path, ReasonRepeated, "stands twice")
		case len(reflection.Tags) == maxTags:
			i.r.drop(path, ReasonLimit, fmt.Sprintf("must have at most %d items", maxTags))
		default:
			reflection.Tags = append(reflection.Tags, tag)
		}
	}
	if commandsReader(reflection.Text) {
		i.fail("reflection_text", ReasonInstruction, "must not tell anybody what to do")
	}
	if i.dropped {
		return nil
	}
	slices.Sort(reflection.Tags)
	i.r.report.Accepted++
	return reflection
}
