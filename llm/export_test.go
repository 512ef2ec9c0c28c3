package llm

// Spent returns the tokens that a model with limits has used, in all and today.
func Spent(m Model) (total, today int) {
	l := m.(*limited)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.startDay()
	return l.total, l.today
}
