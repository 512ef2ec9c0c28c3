// Package contract says what derivation asks of a language model and what it accepts as an answer. There are four prompts: expand,
// rerank, summary, and extract, which asks for the entities, facts, loops and reflections of a batch of episodes.
//
// Each prompt has a function that makes a [Prompt] and one that reads the answer of the model, given the same input. A schema
// helps the model; what counts is the reading:
//
//   - An answer as a whole is invalid (an *[Error]) if package ask cannot read it: it is not one JSON object, or a key is missing, stands
//     twice or has the wrong type; if it was cut off or declined; or if it lost every item that it had.
//   - A single item is dropped, and counted by its reason, if one of its values is not allowed.
//   - Nothing is accepted that the text does not say. A claim has a quote that stands in the lines that it cites, of a speaker who
//     may say it: a fact about the owner of the memory needs a line of the owner or of a note written by hand. Names occur in the
//     text. Ids are those that were offered, numbered from 1 for the call.
//
// The functions do no input or output.
package contract
