// Package rule derives without a model what can be derived for sure: it cuts files into episodes, and finds in them the names,
// facts and open loops that their form gives away. All functions are pure.
package rule
