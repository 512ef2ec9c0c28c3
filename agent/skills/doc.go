// Package skills finds the skills of an agent: folders with a SKILL.md that tells a model how to do something. It decides
// which of them can be used on this machine and fits them into the room that a prompt has for them.
//
// [Loader.Load] looks at the folders every time and reads only what has changed. It never fails: a skill that cannot be
// used is left out, with the reason in the report.
package skills
