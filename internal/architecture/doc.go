// Package architecture holds the tests that keep the shape of the project: which
// folder may import which, and that no Go code names a model family.
package architecture
