// Package derive keeps what is derived from an agent's notes: names, facts with evidence, open loops and summaries. It is a layer
// over the index that nobody needs in order to search: it is off unless the settings turn it on, and all of it can be made again
// from the Markdown, the decisions of people, and a cache of what a model has answered.
package derive
