// Package skills finds the skills of an agent: folders with a SKILL.md that tells a model how to do something. It decides
// which skills can be used on this machine, and shortens them to the room that a prompt has for them.
//
// [Loader.Load] looks at the folders every time and reads only what has changed. It never fails: a skill that cannot be
// used is skipped, with the reason in the report.
package skills
