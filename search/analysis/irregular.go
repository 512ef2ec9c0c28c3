package analysis

import "strings"

// irregularForms are forms of English words that no rule leads to, each line with the word that they are indexed as first. Porter's
// algorithm takes the s of bus and the ie of pie for those of a plural.
// Forms that are more often another word (left, found, saw, thought, given) are not among them.
const irregularForms = `
begin began begun
bite bitten
blow blew blown
break broke broken
bring brought
build built
buy bought
catch caught
choose chose chosen
deal dealt
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
fight fought
fly flew flown
forget forgot forgotten
freeze froze frozen
give gave
go goes went gone
grow grew grown
hear heard
hide hid hidden
hold held
keep kept
know knew known
lend lent
lose lost
mean meant
meet met
pay paid
ride rode ridden
run ran
see seen
sell sold
send sent
shake shook shaken
sing sang sung
sleep slept
speak spoke spoken
spend spent
stand stood
steal stole stolen
stick stuck
swim swam swum
take took taken
teach taught
tear tore torn
throw threw thrown
understand understood
wake woke woken
wear wore worn
win won
write wrote written
child children
foot feet
goose geese
knife knives
leaf leaves
life lives
man men
mouse mice
person people
precise precision
shelf shelves
tooth teeth
wife wives
wolf wolves
woman women
alga algae
alias aliases
analysis analyses
antenna antennae
appendix appendices
atlas atlases
axis axes
bacterium bacteria
bias biases
bonus bonuses
bus buses
cactus cacti
campus campuses
canvas canvases
census censuses
chorus choruses
circus circuses
corpus corpora
crisis crises
criterion criteria
curriculum curricula
die dies
diagnosis diagnoses
focus foci focuses
formula formulae
fungus fungi
gas gases gasses
genus genera
hypothesis hypotheses
index indices
larva larvae
lens lenses
lie lies
matrix matrices
nucleus nuclei
oasis oases
parenthesis parentheses
phenomenon phenomena
pie pies
plus pluses
quiz quizzes
radius radii
status statuses
stimulus stimuli
surplus surpluses
syllabus syllabi
synthesis syntheses
thesis theses
tie ties
vertebra vertebrae
vertex vertices
virus viruses
`

// irregularStems contains the stem of each irregular form.
var irregularStems = func() map[string]string {
	stems := make(map[string]string)
	for line := range strings.Lines(irregularForms) {
		if words := strings.Fields(line); len(words) > 0 {
			for _, form := range words[1:] {
				stems[form] = porterStem(words[0])
			}
		}
	}
	return stems
}()

// derivations are the ends of nouns and of the verbs that they are made of. Only those that a verb has and hardly any other
// noun are among them; others (-mission, -vision, -plication) lead astray.
var derivations = [][2]string{
	{"cision", "cide"}, {"clusion", "clude"}, {"duction", "duce"}, {"ification", "ify"}, {"scription", "scribe"},
	{"sumption", "sume"},
}

// stemEnglish returns the stem of an English word of ASCII letters: that of the verb or the singular if it is irregular or
// derived (children, went, decision), else that of Porter's algorithm.
func stemEnglish(word string) string {
	if stem, ok := irregularStems[word]; ok {
		return stem
	}
	for _, d := range derivations {
		if root, ok := strings.CutSuffix(strings.TrimSuffix(word, "s"), d[0]); ok && len(root) > 1 {
			return porterStem(root + d[1])
		}
	}
	return porterStem(word)
}
