// Package testkit has what the tests of several packages share.
package testkit
