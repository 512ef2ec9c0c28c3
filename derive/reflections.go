package derive

import (
	"context"
	"math"
	"slices"

	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/memory"
)

// maxReflections is the number of episodes from which moods are drawn at most.
const maxReflections = 1000

// Reflections returns what the model thinks of episodes up to a sensitivity, and the moods of their days.
func (s *Service) Reflections(ctx context.Context, f unit.ReflectionFilter, ceiling memory.Sensitivity) (unit.Reflections, error) {
	all, err := s.store.Reflections(ctx, store.ReflectionQuery{From: f.From, To: f.To, MaxSensitivity: ceiling, Limit: maxReflections})
	if err != nil {
		return unit.Reflections{}, err
	}
	limit := f.Limit
	if limit == 0 {
		limit = 100
	}
	return unit.Reflections{Reflections: all[:min(limit, len(all))], Days: moods(all)}, nil
}

// moods sums up reflections by day.
func moods(all []unit.EpisodeReflection) []unit.DayMood {
	var days []unit.DayMood
	weight := 0.0
	for _, r := range slices.Backward(all) {
		if r.Date == "" {
			continue
		}
		if len(days) == 0 || days[len(days)-1].Date != r.Date {
			days, weight = append(days, unit.DayMood{Date: r.Date, Emotions: map[string]int{}}), 0
		}
		day := &days[len(days)-1]
		day.Emotions[r.Emotion]++
		if sum := weight + r.Confidence; sum > 0 {
			day.Mood = math.Round(1000*(day.Mood*weight+r.Mood()*r.Confidence)/sum) / 1000
			weight = sum
		}
	}
	return days
}

// addReflections adds what the model thinks of the episodes of the evidence.
func (s *Service) addReflections(ctx context.Context, evidence []memory.Evidence, ceiling memory.Sensitivity) error {
	uids := []string{}
	for _, e := range evidence {
		uids = append(uids, e.EpisodeUID)
	}
	all, err := s.store.Reflections(ctx, store.ReflectionQuery{UIDs: uids, MaxSensitivity: ceiling, Limit: maxReflections})
	for i := range evidence {
		for _, r := range all {
			if r.Episode == evidence[i].EpisodeUID {
				evidence[i].Reflection = &r.Reflection
			}
		}
	}
	return err
}
