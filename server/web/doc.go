// Package web is the page that a person opens to see what an agent remembers: an overview, search, the notes, a time line, a
// map, the turns of the agent, and live events. It edits nothing.
//
// A page is a template, a script and a style sheet of the same name in templates and static. Scripts read /v1/; pages that show
// notes are rendered here, so that note text is always escaped or sanitised by Go. Nothing is loaded from another origin, and the
// content security policy allows no inline script or style.
package web
