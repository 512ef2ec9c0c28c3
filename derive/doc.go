// Package derive keeps what is derived from an agent's notes: names, facts with evidence, open loops and summaries. It is a layer
// over the index that nobody needs in order to search: it is off unless the settings turn it on, and all of it can be made again
// from the Markdown, the decisions of people, and a cache of what a model has answered.
//
// A pass does once what waits, in this order: decisions.md is applied if it has changed; files are cut into episodes; the rules read
// the episodes; slots with new claims or decisions get their units; loops expire; the model reads what has settled; summaries and
// views are made. [Service.Work] makes passes as notes change, [Service.Run] makes one now.
//
// What the model should read follows from what it has not read: there is no queue, and only the owner of the index derives. Before a call its
// tokens are reserved from the budget of the day, which all processes share. What a model has said of an episode is cached for that
// episode, whatever the batch in which it was asked about: an index that is made anew costs no call. An answer that is invalid is
// asked for once more; then the batch is halved, and an episode that stays invalid waits for a person as a parked job. Failures on
// the way to the model make all that waits pause.
package derive
