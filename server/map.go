package server

import "errors"

// errNoMap is what callers are told about a map that could not be made.
var errNoMap = errors.New("the map could not be made; the log has the cause")
