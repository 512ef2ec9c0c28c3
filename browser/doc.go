// Package browser tests the page of Kioku in a real Chromium. It is a module of its own, so that what drives the browser is no
// dependency of Kioku; it knows Kioku only as the program bin/kioku, or KIOKU_BIN.
package browser
