package checkpoint

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A checkpoint may hold names and shapes of any length, with any characters.
const (
	longestName = 160 // characters shown
	mostDims    = 10
)

// shown returns a name for a message or a table: as it is if it reads as one
// word, else quoted, with what a terminal might obey escaped.
func shown(name string) string {
	if utf8.RuneCountInString(name) > longestName {
		name = string([]rune(name)[:longestName]) + "…"
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == '"' }) {
		return strconv.Quote(name)
	}
	return name
}

// shape returns dims for a message: [128 32].
func shape(dims []int64) string {
	if len(dims) > mostDims {
		return fmt.Sprintf("%s … %d dims]", strings.TrimSuffix(fmt.Sprint(dims[:mostDims]), "]"), len(dims))
	}
	return fmt.Sprint(dims)
}
