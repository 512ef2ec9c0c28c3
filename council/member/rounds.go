package member

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kioku/agent/prompt"
	"kioku/council"
)

// addRound adds the ballots of a sealed round, and says which one is the reader's own. A brief round has no opinions. Letters take the
// place of authors only: a text is shown as it was written, because names of members are also names of folders and of people.
func (w *writer) addRound(r Round, brief bool) {
	names := w.shownNames()
	ballots := slices.Clone(r.Ballots)
	slices.SortFunc(ballots, func(a, b council.Ballot) int { return strings.Compare(names(a.Node), names(b.Node)) })
	var all []string
	for _, b := range ballots {
		author := names(b.Node)
		if b.Node == w.Member {
			author += " (you)"
		}
		all = append(all, w.Frame(prompt.Origin{Kind: "opinion", Author: author}, ballotText(b, brief)))
	}
	if n := len(r.Abstentions); n > 0 {
		kinds := slices.Sorted(maps.Values(r.Abstentions))
		all = append(all, fmt.Sprintf("%d abstained (%s).", n, strings.Join(kinds, ", ")))
	}
	w.add(fmt.Sprintf("Round %d", r.Round), strings.Join(all, "\n\n"))
}

// ballotText returns a ballot as text.
func ballotText(b council.Ballot, brief bool) string {
	lines := []string{"Vote: " + b.Vote}
	if !brief {
		lines = append(lines, "Opinion: "+b.Opinion)
		if b.ProposedApproach != "" {
			lines = append(lines, "Approach: "+b.ProposedApproach)
		}
	}
	for _, c := range b.Concerns {
		lines = append(lines, "Concern: "+c)
	}
	return strings.Join(lines, "\n")
}

// shownNames returns the function from the name of a member to the one that is shown: a letter, if ballots are anonymous. A member
// has the same letter in all rounds that one member reads, and another one for the next reader.
func (w *writer) shownNames() func(name string) string {
	if !w.Anonymise {
		return func(name string) string { return name }
	}
	voters := slices.Clone(w.Roster)
	for _, r := range w.Rounds {
		for _, b := range r.Ballots {
			if !slices.Contains(voters, b.Node) {
				voters = append(voters, b.Node)
			}
		}
	}
	slices.SortFunc(voters, func(a, b string) int { return bytes.Compare(w.rank(a), w.rank(b)) })
	return func(name string) string {
		if i := slices.Index(voters, name); i >= 0 && i < 26 {
			return string(rune('A' + i))
		}
		return "a member"
	}
}

// rank returns what orders the voters before the member who reads them.
func (w *writer) rank(voter string) []byte {
	mac := hmac.New(sha256.New, w.Key)
	for _, part := range []string{w.Task.ID, fmt.Sprint(w.Cycle), w.Member, voter} {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write([]byte(part))
	}
	return mac.Sum(nil)
}
