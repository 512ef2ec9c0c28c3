// Package tools lets a model use a memory: [All] describes the tools in the form that model providers take, and [Call] runs
// one with the input that a model gave.
package tools
