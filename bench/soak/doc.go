// Package soak attacks a running kioku serve: it kills the daemon while notes are written, damages its database, fills its
// disk, has its embedding provider fail, and searches from many clients at once. After each attack a model of all that was
// acknowledged is compared with the files, with the answers of searches, and with an index that is made anew. A table of what
// was done and what was found ends the run; a promise that does not hold fails it.
//
//	make soak MINUTES=5 SEED=1
//
// The attacks share the minutes. Processes and disks have a will of their own, so that a seed repeats what is attacked, not
// when exactly it hits.
package soak
