// Package text has the small operations on text that several packages need: one line of it, its beginning and its end, a
// long text without its middle, YAML front matter. All functions are pure. Characters are Unicode code points; no function
// splits one.
package text
