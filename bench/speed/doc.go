// Package speed has the benchmarks of Kioku: make bench prints for each the ratio to a yardstick of the same run.
package speed
