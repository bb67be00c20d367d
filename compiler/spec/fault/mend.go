package fault

import (
	"regexp"
	"slices"
	"strings"

	"mobiusc/internal/diag"
	"mobiusc/internal/suggest"
)

// meant adds the nearest of the known names, or a short list of them.
func meant(d *diag.Diagnostic, name string, known []string) *diag.Diagnostic {
	if near := suggest.Nearest(name, known); near != "" {
		d.Hint = didYouMean(near)
	} else if len(known) > 0 && len(known) <= 12 {
		d.Hint = "it is one of " + strings.Join(known, ", ")
	}
	return d
}

func didYouMean(name string) string { return "did you mean `" + name + "`?" }

// certainDistance is how many mistyped characters leave no doubt of what was
// meant where only one name is near.
const certainDistance = 2

// misspelt is meant for a name in a spec that is the whole range of the finding:
// the fix writes the nearest name there. It is a guess where others are near.
func misspelt(d *diag.Diagnostic, name string, known []string) *diag.Diagnostic {
	near := suggest.Near(name, known)
	if len(near) > 0 {
		d = mended(d, d.Range, quoted(near[0]))
		d.Fix.Guess = len(near) > 1 || suggest.Distance(name, near[0]) > certainDistance
	}
	return meant(d, name, known)
}

// perhaps is misspelt where a name need not be one of those that are known.
func perhaps(d *diag.Diagnostic, name string, known []string) *diag.Diagnostic {
	if suggest.Nearest(name, known) == "" {
		return d
	}
	return misspelt(d, name, known)
}

// mended adds the fix that writes text in a range, quoted if it has to be.
func mended(d *diag.Diagnostic, r diag.Range, text string) *diag.Diagnostic {
	d.Fix = &diag.Fix{Range: r, NewText: text, Title: "write `" + text + "`"}
	return d
}

// quoted returns a word as a plain scalar of YAML, in quotes where it would be
// read as something else.
func quoted(word string) string {
	if plain.MatchString(word) && !slices.Contains(notText, strings.ToLower(word)) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", "''") + "'"
}

var (
	plain   = regexp.MustCompile(`^[\p{L}_][\p{L}\p{N}_./ -]*$`)
	notText = []string{"null", "true", "false"}
)
