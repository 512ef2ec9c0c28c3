// Package testkit is what the tests of several packages share.
package testkit
