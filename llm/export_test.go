package llm

// Spent returns the tokens that a model with limits has used today.
func Spent(m Model) int {
	l := m.(*limited)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.startDay()
	return l.today
}
