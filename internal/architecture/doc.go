// Package architecture holds the tests that keep the shape of the project: which
// folder may import which, that no Go code names a model family, and that pages
// name files, commands and lanes that exist.
package architecture
