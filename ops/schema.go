// Package ops knows the standard operators: the schema of every operator of
// every domain and version that ONNX defines, and what follows from it.
package ops

import (
	"math"
	"slices"
	"strings"

	"mobiusc/internal/suggest"
	"mobiusc/ir"
)

//go:generate python3 gen/schemas.py schemas.txt

// Unbounded is the maximum of an arity that has none.
const Unbounded = math.MaxInt32

// Schema is one version of an operator. Schemas are shared: read only.
type Schema struct {
	Domain, Name string // Domain "" is ai.onnx
	Since        int64  // first opset version with this schema
	Deprecated   bool   // from Since on the operator must not be used
	// The counts of inputs and outputs, trailing absent ones not counted.
	MinInputs, MaxInputs, MinOutputs, MaxOutputs int
	Inputs, Outputs                              []Param
	Attrs                                        []AttrSpec // by name
	Constraints                                  []Constraint
}

// Option says how often a parameter may stand.
type Option uint8

// A parameter stands once, at most once, or any number of times; only the last
// parameter of a list is variadic.
const (
	Single Option = iota
	Optional
	Variadic
)

// Param is a formal input or output.
type Param struct {
	Name string
	// Type is the name of a type constraint ("T"), or a type ("int64").
	Type    string
	Allowed *TypeSet // what Type stands for
	Option  Option
	// Homogeneous is false for a variadic parameter whose values may differ in
	// type from each other.
	Homogeneous bool
	MinArity    int // variadic: the fewest values
}

// AttrSpec is a formal attribute.
type AttrSpec struct {
	Name     string
	Type     ir.AttrType
	Required bool
	Default  *ir.Attr // nil: no default
}

// Constraint binds a type variable to the types it ranges over.
type Constraint struct {
	Name  string
	Types *TypeSet
}

// Lookup returns the schema in force for an operator at an opset version: the
// one with the highest Since that is not above it. It returns nil when there is
// no such operator in the domain yet, or at all.
func Lookup(domain, op string, opset int64) *Schema {
	versions := standard().ops[key{canonical(domain), op}]
	for _, e := range slices.Backward(versions) {
		if e.since <= opset {
			return e.schema()
		}
	}
	return nil
}

// Versions returns every schema of an operator, oldest first.
func Versions(domain, op string) []*Schema {
	var out []*Schema
	for _, e := range standard().ops[key{canonical(domain), op}] {
		out = append(out, e.schema())
	}
	return out
}

// Operators returns the names of all operators of a domain, of any version,
// sorted.
func Operators(domain string) []string {
	return slices.Clone(standard().names[canonical(domain)])
}

// Domains returns the domains that ONNX defines, sorted; "" is ai.onnx.
func Domains() []string { return slices.Clone(standard().domains) }

// IsStandard reports whether ONNX defines operators in the domain.
func IsStandard(domain string) bool { return MaxOpset(domain) > 0 }

// MaxOpset returns the highest version of a domain that ONNX defines, or 0 for
// a domain that is not standard.
func MaxOpset(domain string) int64 { return standard().maxOpset[canonical(domain)] }

// MaxIRVersion returns the highest IR version that ONNX defines.
func MaxIRVersion() int64 {
	releases := standard().releases
	return releases[len(releases)-1].ir
}

// MinIRVersion returns the IR version of the first ONNX release that had the
// given version of a domain, or 0 when there is none.
func MinIRVersion(domain string, opset int64) int64 {
	for _, r := range standard().releases {
		if v, ok := r.opset[canonical(domain)]; ok && v >= opset {
			return r.ir
		}
	}
	return 0
}

// SuggestOperator returns the name of the operator of the domain, in force at
// the opset, that a misspelt name comes closest to, or "".
func SuggestOperator(domain, op string, opset int64) string {
	var names []string
	for _, name := range standard().names[canonical(domain)] {
		if s := Lookup(domain, name, opset); s != nil && !s.Deprecated {
			names = append(names, name)
		}
	}
	return suggest.Nearest(op, names)
}

// SuggestAttr returns the name of the schema's attribute that a misspelt name
// comes closest to, or "".
func (s *Schema) SuggestAttr(name string) string {
	names := make([]string, len(s.Attrs))
	for i, a := range s.Attrs {
		names[i] = a.Name
	}
	return suggest.Nearest(name, names)
}

// Attr returns the attribute with the given name, or nil.
func (s *Schema) Attr(name string) *AttrSpec {
	i, ok := slices.BinarySearchFunc(s.Attrs, name, func(a AttrSpec, name string) int { return strings.Compare(a.Name, name) })
	if !ok {
		return nil
	}
	return &s.Attrs[i]
}

// Input returns the parameter that input i of a call belongs to, or nil when
// the operator has no such input.
func (s *Schema) Input(i int) *Param { return paramAt(s.Inputs, i) }

// Output returns the parameter that output i of a call belongs to, or nil.
func (s *Schema) Output(i int) *Param { return paramAt(s.Outputs, i) }

func paramAt(params []Param, i int) *Param {
	last := len(params) - 1
	switch {
	case i < 0 || last < 0:
		return nil
	case i <= last:
		return &params[i]
	case params[last].Option == Variadic:
		return &params[last]
	}
	return nil
}

// Constraint returns the types a type variable ranges over, or nil when the
// schema has no variable of that name.
func (s *Schema) Constraint(name string) *TypeSet {
	for _, c := range s.Constraints {
		if c.Name == name {
			return c.Types
		}
	}
	return nil
}

// canonical maps both names of the default domain to one.
func canonical(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}

// IsDefault reports whether a domain is one of the two names of ai.onnx.
func IsDefault(domain string) bool { return canonical(domain) == "" }
