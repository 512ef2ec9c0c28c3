// Package flow says what a council does next. [Next] is a pure function of what is on disk, the time and the settings; it counts votes
// and moves states, and reads no text that a model has written. Restarting a council is calling it again.
package flow
