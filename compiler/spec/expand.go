package spec

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// Expand writes the merged spec as one YAML document without a parent. Every
// line ends with the file and line that it comes from. What stands on one line
// of its file stays on one line.
func (s *Spec) Expand(w io.Writer) error {
	p := &printer{}
	title := s.Name
	if s.VariantName != "" {
		title += ", variant " + s.VariantName
	}
	var names []string
	for _, f := range s.files {
		names = append(names, filepath.Base(f.path))
	}
	fmt.Fprintf(&p.out, "# %s, merged from %s\n", title, strings.Join(names, ", "))
	root := s.root
	for _, key := range []string{"extends", "variants"} {
		if e := root.Entry(key); e != nil && (key == "extends" || s.VariantName != "") {
			root = root.With(e.Key, nil)
		}
	}
	for _, e := range s.g.short(root, s.g.document).Entries {
		p.entry(e, "")
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}

// printer writes a tree as YAML.
type printer struct{ out strings.Builder }

// Widths of the text before the origin, and of what may stand on one line.
const (
	originColumn = 100
	flowWidth    = 96
)

// line ends a line with its origin.
func (p *printer) line(text string, from diag.Range) {
	pad := max(2, originColumn-utf8.RuneCountInString(text))
	fmt.Fprintf(&p.out, "%s%s# %s:%d\n", text, strings.Repeat(" ", pad), filepath.Base(from.File), from.Start.Line)
}

// entry writes a key and its value.
func (p *printer) entry(e tree.Entry, indent string) {
	p.value(indent+scalar(e.Key.Text, true)+":", e.Value, indent, e.Key.Range)
}

// value writes a value behind a key or a dash.
func (p *printer) value(head string, n *tree.Node, indent string, at diag.Range) {
	switch {
	case n.Kind == tree.String && strings.Contains(n.Text, "\n"):
		p.line(head+" |", at)
		for _, text := range strings.Split(strings.TrimRight(n.Text, "\n"), "\n") {
			if text != "" { // no comment can stand in a block of text
				text = indent + "  " + text
			}
			p.out.WriteString(text + "\n")
		}
	case p.flows(n, head):
		if n.IsScalar() {
			at = n.Range
		} else if len(n.Items)+len(n.Entries) > 0 {
			at = first(n)
		}
		p.line(head+" "+flow(n, false), at)
	case n.Kind == tree.List:
		p.line(head, at)
		for _, item := range n.Items {
			p.item(item, indent+"  ")
		}
	default:
		p.line(head, at)
		for _, e := range n.Entries {
			p.entry(e, indent+"  ")
		}
	}
}

func (p *printer) item(n *tree.Node, indent string) {
	if n.Kind != tree.Map || len(n.Entries) != 1 && p.flows(n, indent+"-") {
		p.value(indent+"-", n, indent, first(n))
		return
	}
	for i, e := range n.Entries { // the first key stands behind the dash
		head := indent + "  "
		if i == 0 {
			head = indent + "- "
		}
		p.value(head+scalar(e.Key.Text, true)+":", e.Value, indent+"  ", e.Key.Range)
	}
}

// flows reports whether a value stands on one line: a scalar, or what stands on
// one line of its file and is short.
func (p *printer) flows(n *tree.Node, head string) bool {
	if n.IsScalar() || len(n.Items)+len(n.Entries) == 0 {
		return true
	}
	at := first(n)
	return oneLine(n, at) && utf8.RuneCountInString(head)+1+utf8.RuneCountInString(flow(n, false)) <= flowWidth
}

// first returns the place of the first thing that is written in a value.
func first(n *tree.Node) diag.Range {
	switch {
	case len(n.Entries) > 0:
		return n.Entries[0].Key.Range
	case len(n.Items) > 0:
		return first(n.Items[0])
	}
	return n.Range
}

func oneLine(n *tree.Node, at diag.Range) bool {
	same := func(r diag.Range) bool { return r.File == at.File && r.Start.Line == at.Start.Line }
	if n.IsScalar() {
		return same(n.Range) && !strings.Contains(n.Text, "\n")
	}
	for _, item := range n.Items {
		if !oneLine(item, at) {
			return false
		}
	}
	for _, e := range n.Entries {
		if !same(e.Key.Range) || !oneLine(e.Value, at) {
			return false
		}
	}
	return true
}

// flow writes a value on one line.
func flow(n *tree.Node, inside bool) string {
	switch n.Kind {
	case tree.List:
		items := make([]string, len(n.Items))
		for i, item := range n.Items {
			items[i] = flow(item, true)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case tree.Map:
		items := make([]string, len(n.Entries))
		for i, e := range n.Entries {
			items[i] = scalar(e.Key.Text, true) + ": " + flow(e.Value, true)
		}
		return "{" + strings.Join(items, ", ") + "}"
	case tree.String:
		return scalar(n.Text, inside)
	case tree.Null:
		return "null"
	}
	return n.Text
}

// scalar quotes text where YAML would read it as something else.
func scalar(text string, inside bool) string {
	special := "{[&*!|>'\"%@`?#"
	plain := text != "" && !strings.ContainsRune(special, rune(text[0])) && strings.TrimSpace(text) == text &&
		!strings.Contains(text, ": ") && !strings.Contains(text, " #") && !strings.HasSuffix(text, ":") &&
		!strings.HasPrefix(text, "- ") && text != "-" && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
	if inside && strings.ContainsAny(text, ",[]{}") {
		plain = false
	}
	if plain && tree.IsText(text) {
		return text
	}
	return strconv.Quote(text)
}
