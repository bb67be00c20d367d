package compiler

import (
	"strings"
	"testing"

	"mobiusc/internal/diag"
)

// TestTies lints specs in which a head shares the weight of another module.
// «» stands around the name that is found wrong.
func TestTies(t *testing.T) {
	const head = "spec: v1\nname: x\nsummary: A test.\ndtype: float32\ncomponents:\n"
	model := func(name, prefix, body string) string {
		return "  " + name + ":\n    prefix: '" + prefix + "'\n    inputs: {ids_" + name + ": \"int64[batch, sequence]\"}\n    body: [" + strings.ReplaceAll(body, "{embedding: {", "{embedding: {of: ids_"+name+", ") + "]\n    outputs: {y_" + name + ": result}\n"
	}
	const embed = "{embedding: {name: embed, size: 8, width: 4}}"
	for _, c := range []struct{ name, components, want string }{
		{"to an embedding", model("a", "", embed+", {linear: {name: head, out: 8, tie: {to: embed}}}"), ""},
		{"by an absolute name", model("a", "p", embed+", {linear: {name: head, out: 8, tie: {to: /p.embed}}}"), ""},
		{"to what comes later", model("a", "", "{embedding: {name: e, size: 8, width: 4}}, {linear: {name: x, out: 4, tie: {to: y}}}, {linear: {name: y, out: 4}}"), ""},
		{"to another component", model("a", "", embed) + model("b", "", "{embedding: {name: e, size: 8, width: 4}}, {linear: {name: head, out: 8, tie: {to: embed}}}"), ""},
		{"misspelt", model("a", "", embed+", {linear: {name: head, out: 8, tie: {to: «embde»}}}"),
			"the weight is tied to that of embde, and no block is called so; did you mean `embed`?"},
		{"misspelt under a prefix", model("a", "p", embed+", {linear: {name: head, out: 8, tie: {to: «embde»}}}"),
			"the weight is tied to that of p.embde, and no block is called so; did you mean `embed`?"},
		{"misspelt, of another prefix", model("a", "prefix", embed+", {scope: {name: s, body: {linear: {name: head, out: 8, tie: {to: «/prefix.embde»}}}}}"),
			"the weight is tied to that of prefix.embde, and no block is called so; did you mean `/prefix.embed`?"},
		{"like nothing", model("a", "", embed+", {linear: {name: head, out: 8, tie: {to: «elsewhere»}}}"),
			"the weight is tied to that of elsewhere, and no block is called so"},
		{"to itself", model("a", "", embed+", {linear: {name: head, out: 8, tie: {to: «head»}}}"),
			"the weight is tied to that of head, which has none of its own"},
		{"to one that is tied", model("a", "", embed+", {linear: {name: one, out: 8, tie: {to: embed}}}, {linear: {name: two, out: 8, tie: {to: «one»}}}"),
			"the weight is tied to that of one, which has none of its own; tie it to `embed`"},
		{"to one that is not built", model("a", "", "{embedding: {name: e, size: 8, width: 4}}, {if: false, then: {linear: {name: other, out: 4}}}, {linear: {name: head, out: 8, tie: {to: «other»}}}"),
			"the weight is tied to that of other, and no block is called so"},
		{"where it does not hold", model("a", "", embed+", {linear: {name: head, out: 8, tie: {to: nothing, when: false}}}"), ""},
	} {
		before, rest, _ := strings.Cut(head+c.components, "«")
		inside, after, _ := strings.Cut(rest, "»")
		o := Options{Spec: "x.yaml", Config: "c.json", Read: func(path string) ([]byte, error) {
			if path == "c.json" {
				return []byte("{}"), nil
			}
			return []byte(before + inside + after), nil
		}}
		line := strings.Count(before, "\n") + 1
		col := len(before) - strings.LastIndexByte(before, '\n')
		at := diag.Range{File: "x.yaml", Start: diag.Pos{Line: line, Col: col}, End: diag.Pos{Line: line, Col: col + len(inside)}}
		var errors diag.List
		for _, d := range Lint(o) {
			if d.Severity == diag.Error {
				errors = append(errors, d)
			}
		}
		want := at.String() + ": error: " + c.want + " [MB0603 unknown-tie]"
		switch {
		case c.want == "" && len(errors) > 0:
			t.Errorf("%s: found %v", c.name, errors)
		case c.want != "" && (len(errors) != 1 || errors[0].String() != want || errors[0].Range != at):
			t.Errorf("%s: found %v, want %s to %v", c.name, errors, want, at.End)
		}
	}
}
