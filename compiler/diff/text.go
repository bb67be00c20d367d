package diff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"mobiusc/internal/number"
)

// WriteJSON writes the whole report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// WriteText writes the report for a terminal. limit bounds the lines of one
// section; 0: all of them.
func (r *Report) WriteText(w io.Writer, limit int) error {
	out := &strings.Builder{}
	fmt.Fprintf(out, "%s → %s: %s\n", r.A, r.B, r.verdict())
	for _, c := range r.Made {
		fmt.Fprintf(out, "  %s\n", c.text())
	}
	for _, c := range r.Components {
		fmt.Fprintf(out, "\n%s: %s\n", c.Name, c.verdict())
		if c.Status == Same {
			continue
		}
		c.table(out)
		for _, s := range c.sections() {
			fmt.Fprintf(out, "  %s\n", s.title)
			for _, line := range lines(s.groups, limit, "~") {
				fmt.Fprintf(out, "    %s\n", line)
			}
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// WriteMarkdown writes the report for a comment on a change: a line that says
// how far it reaches, and the rest folded.
func (r *Report) WriteMarkdown(w io.Writer, limit int) error {
	out := &strings.Builder{}
	fmt.Fprintf(out, "### `%s` → `%s`: %s\n\n", r.A, r.B, r.verdict())
	for _, c := range r.Made {
		fmt.Fprintf(out, "- %s\n", escape(c.text()))
	}
	if len(r.Made) > 0 {
		out.WriteByte('\n')
	}
	r.sizesTable(out)
	for _, c := range r.Components {
		if sections := c.sections(); len(sections) > 0 {
			open := ""
			if c.Severity == Interface {
				open = " open"
			}
			fmt.Fprintf(out, "\n<details%s><summary>%s: %s</summary>\n\n", open, c.Name, c.verdict())
			for _, s := range sections {
				fmt.Fprintf(out, "%s\n\n```diff\n%s\n```\n\n", s.title, strings.Join(lines(s.groups, limit, "!"), "\n"))
			}
			out.WriteString("</details>\n")
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// sizesTable writes one table of the sizes of all components.
func (r *Report) sizesTable(out *strings.Builder) {
	out.WriteString("| component | | before | after | change |\n|---|---|---:|---:|---:|\n")
	for _, c := range r.Components {
		name := c.Name
		for _, s := range c.Sizes {
			fmt.Fprintf(out, "| %s | %s | %s | %s | %s |\n", name, s.What, number.Thousands(s.A), number.Thousands(s.B), s.change())
			name = ""
		}
	}
}

func (r *Report) verdict() string { return r.Severity.verdict() }

func (s Severity) verdict() string {
	switch s {
	case Interface:
		return "the interface changes"
	case Graph:
		return "the graph changes, its interface does not"
	}
	return "no difference"
}

func (c *Component) verdict() string {
	if c.Status == Added || c.Status == Removed {
		return string(c.Status)
	}
	return c.Severity.verdict()
}

// table writes the sizes of a component.
func (c *Component) table(out *strings.Builder) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range c.Sizes {
		line := fmt.Sprintf("  %s\t%s", s.What, number.Thousands(s.A))
		if s.A != s.B {
			line += fmt.Sprintf(" → %s\t%s", number.Thousands(s.B), s.change())
		}
		fmt.Fprintln(t, line)
	}
	t.Flush() //nolint:errcheck // a Builder does not fail
}

// change returns how much a size changes: +1.3 %.
func (s Size) change() string {
	switch {
	case s.A == s.B:
		return ""
	case s.A == 0:
		return "new"
	}
	return fmt.Sprintf("%+.1f %%", 100*float64(s.B-s.A)/float64(s.A))
}

type section struct {
	title  string
	groups []Group
}

// sections returns what differs, in the order of its importance.
func (c *Component) sections() []section {
	model := make([]Group, len(c.Model))
	for i, x := range c.Model {
		model[i] = Group{Status: Changed, Subject: x.text(), Count: 1}
	}
	var out []section
	for _, s := range []section{{"interface", c.Interface}, {"model", model}, {"nodes", c.Nodes}, {"functions", c.Functions}, {"parameters", c.Parameters}} {
		if len(s.groups) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// lines writes groups, a line each: the first so many if there are more.
func lines(groups []Group, limit int, changed string) []string {
	var out []string
	for i, g := range groups {
		if limit > 0 && i == limit {
			out = append(out, fmt.Sprintf("… and %d more", len(groups)-limit))
			break
		}
		out = append(out, g.line(changed))
	}
	return out
}

func (g Group) line(changed string) string {
	sign := map[Status]string{Added: "+", Removed: "-", Changed: changed}[g.Status]
	s := sign + " " + strings.TrimSpace(g.Path+"  "+g.Subject)
	var parts []string
	for _, c := range g.Changes {
		parts = append(parts, c.text())
	}
	if len(parts) > 0 {
		s += "; " + strings.Join(parts, "; ")
	}
	switch {
	case g.Layers != "":
		s += "   i = " + g.Layers
		if n := g.Count; n > 1 {
			s += fmt.Sprintf(" (%d)", n)
		}
	case g.Count > 1:
		s += fmt.Sprintf("   ×%d", g.Count)
	}
	return s
}

func (c Change) text() string {
	return fmt.Sprintf("%s: %s → %s", c.What, cmp.Or(c.A, "none"), cmp.Or(c.B, "none"))
}

// escape keeps Markdown from reading names as markup.
func escape(s string) string {
	return strings.NewReplacer("_", `\_`, "*", `\*`, "<", "&lt;", "|", `\|`).Replace(s)
}
