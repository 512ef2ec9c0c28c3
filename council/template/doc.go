// Package template contains councils to begin with. The template "soul" has three members: a cautious one, an adventurous one and an
// arbiter.
package template
