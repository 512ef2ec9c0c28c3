// Package vocab has the words of derived memory: the predicates that facts may have and what is known about each, the types of
// entities and relations, and the keys by which the same thing is recognised when it is said again. All functions are pure, and
// two processes that read the same notes make the same keys.
package vocab
