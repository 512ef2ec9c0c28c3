// Package lineedit reads lines from a person at a terminal: with editing, a history that outlasts the program, text pasted
// as one piece, and characters as wide as the terminal shows them, such as those of Chinese and Japanese.
package lineedit
