package diag

import (
	"fmt"
	"slices"
)

// Kind is one sort of finding: an entry of the catalogue, with a page of its own
// in docs/diagnostics. Code and Name are stable, and each is unique in the
// whole program.
type Kind struct {
	Code     string   // MB0201
	Name     string   // unknown-key
	Severity Severity // of most findings of the kind
	Summary  string   // what is wrong, in general
	// Judgement is set for what means something all the same and may be meant:
	// a comment at its line of the spec, `# mobiusc:ignore NAME`, silences it.
	// Other errors leave a spec without a meaning, and no comment changes that.
	Judgement bool
	// Request is set for what is asked for and cannot be had, whatever the files
	// hold: an option's value, a file that is not there.
	Request bool
}

// AsRequest sets Request, and returns the kind.
func (k *Kind) AsRequest() *Kind {
	k.Request = true
	return k
}

// At makes a finding of the kind.
func (k *Kind) At(r Range, format string, args ...any) *Diagnostic {
	return &Diagnostic{Code: k.Code, Name: k.Name, Severity: k.Severity, Range: r, Message: fmt.Sprintf(format, args...)}
}

// Catalogue is a list of kinds in the order of their codes.
type Catalogue []*Kind

// Add declares a kind at the end of the catalogue.
func (c *Catalogue) Add(code, name string, severity Severity, summary string) *Kind {
	k := &Kind{Code: code, Name: name, Severity: severity, Summary: summary}
	*c = append(*c, k)
	return k
}

// Find returns the kind with a code or a name, nil if there is none.
func (c Catalogue) Find(codeOrName string) *Kind {
	i := slices.IndexFunc(c, func(k *Kind) bool { return k.Code == codeOrName || k.Name == codeOrName })
	if i < 0 {
		return nil
	}
	return c[i]
}

// Names returns the names of the kinds in the order of the catalogue.
func (c Catalogue) Names() []string {
	names := make([]string, len(c))
	for i, k := range c {
		names[i] = k.Name
	}
	return names
}
