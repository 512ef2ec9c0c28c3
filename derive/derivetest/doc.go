// Package derivetest has a scripted model server for tests of derivation. It listens on this computer only, answers what its script
// says, in the wire format of OpenAI, and records what it was asked.
//
// A script is a text archive. Each file of it is a step: fields, a blank line, and the text of the answer.
//
//	-- first --
//	purpose: facts
//	match: Porto
//
//	{"facts": []}
//	-- overloaded --
//	status: 429
//	header: Retry-After: 7
//
//	{"error": {"message": "slow down"}}
//
// The fields are:
//
//   - purpose: the contract that is asked for, as its prompt names it after "Task:".
//   - match: a text that the request must have in its messages; several are all needed.
//   - times: how often the step answers, 1 if it is not given; "*" is any number, also none.
//   - status and header: of the response. With a status other than 200 the text is the body as it is.
//   - stop: why the answer ends, in the words of package llm; "end" if it is not given.
//   - tokens: how many the prompt and the answer have, "100 20" if it is not given.
//   - cut: true: the connection breaks in the middle of the answer.
//
// A request is answered by the first step that has answers left and matches. A request that no step matches is answered with 500 and
// fails the test, as does a step that is not used up at the end.
package derivetest
