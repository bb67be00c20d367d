package emit

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"mobiusc/internal/number"
)

// WriteJSON prints the summary as JSON.
func (s *Summary) WriteJSON(w io.Writer) error {
	b, err := AppendJSON(nil, s)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// WriteText prints the summary as tables.
func (s *Summary) WriteText(w io.Writer) error {
	p := &printer{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	p.line("%s", s.Path)
	if m := s.Package; m != nil {
		p.line("  spec\t%s", m.Spec.Name)
		p.line("  config\t%s", m.Config.Name)
		p.line("  made by\t%s", m.Tool)
		p.line("  weights\t%s", m.Weights)
		for _, k := range slices.Sorted(maps.Keys(m.Options)) {
			p.line("  %s\t%s", k, m.Options[k])
		}
	}
	for i := range s.Components {
		p.component(&s.Components[i])
	}
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

// printer prints lines until one fails.
type printer struct {
	w   *tabwriter.Writer
	err error
}

// line prints one line; empty columns at its end are left out.
func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, strings.TrimRight(fmt.Sprintf(format, args...), "\t"))
	}
}

// section ends the columns of what stands above it.
func (p *printer) section(format string, args ...any) {
	if p.err == nil {
		p.err = p.w.Flush()
	}
	p.line(format, args...)
}

func (p *printer) component(c *ComponentSummary) {
	p.section("\n%s (%s)", c.Name, c.Model)
	var opsets []string
	for _, o := range c.Opsets {
		opsets = append(opsets, fmt.Sprintf("%s %d", o.Domain, o.Version))
	}
	p.line("  opsets\t%s, IR version %d", strings.Join(opsets, ", "), c.IR)
	nodes := number.Thousands(int64(c.Nodes))
	if c.SubgraphNodes > 0 {
		nodes += fmt.Sprintf(", and %s in subgraphs", number.Thousands(int64(c.SubgraphNodes)))
	}
	if c.FunctionNodes > 0 {
		nodes += fmt.Sprintf(", and %s in functions", number.Thousands(int64(c.FunctionNodes)))
	}
	p.line("  nodes\t%s", nodes)
	p.line("  parameters\t%s", number.Thousands(c.Parameters))
	if c.Unbound > 0 {
		p.line("  not bound\t%s of the tensors below", number.Thousands(int64(c.Unbound)))
	}
	p.sizes(c)
	p.values(c)
}

func (p *printer) sizes(c *ComponentSummary) {
	if len(c.DTypes) > 0 {
		p.section("  dtype\ttensors\telements\tbytes")
	}
	for _, d := range c.DTypes {
		p.line("  %s\t%s\t%s\t%s", d.DType, number.Thousands(int64(d.Tensors)), number.Thousands(d.Elements), number.Thousands(d.Bytes))
	}
	if len(c.Data) > 0 {
		p.section("  data\ttensors\tbytes")
	}
	for _, d := range c.Data {
		state := ""
		switch {
		case c.Unbound > 0 && !d.Complete():
			state = "not bound: the file is to hold the weights"
		case d.Size < 0:
			state = "missing"
		case !d.Complete():
			state = fmt.Sprintf("incomplete: the file ends at %s", number.Thousands(d.Size))
		}
		p.line("  %s\t%s\t%s\t%s", d.Location, number.Thousands(int64(d.Tensors)), number.Thousands(d.End), state)
	}
}

// values prints the interface: what is fed and read, then the states.
func (p *printer) values(c *ComponentSummary) {
	state := map[string]bool{}
	types := map[string]string{}
	for _, s := range c.States {
		state[s.Input], state[s.Output] = true, true
	}
	for _, list := range []struct {
		title  string
		values []ManifestValue
	}{{"inputs", c.Inputs}, {"outputs", c.Outputs}} {
		p.section("  %s", list.title)
		for _, v := range list.values {
			types[v.Name] = v.typeText()
			if state[v.Name] {
				continue
			}
			from := ""
			if v.From != "" {
				from = "from " + v.From
			}
			p.line("    %s\t%s\t%s", v.Name, v.typeText(), from)
		}
	}
	if len(c.Limits) > 0 {
		p.section("  limits")
	}
	for _, l := range c.Limits {
		if l.Input != "" {
			p.line("    values of %s\tat most %d", l.Input, l.Max)
		} else {
			p.line("    %s\tat most %d", l.Dim, l.Max)
		}
	}
	if len(c.States) > 0 {
		p.section("  states")
	}
	for _, g := range groupStates(c.States, types) {
		p.line("    %s\t→ %s\t%s\t%s", g.input, g.output, g.typ, g.layers())
	}
}

// typeText returns dtype and shape: float16[batch, 8, past, 128].
func (v ManifestValue) typeText() string {
	if v.Shape == nil {
		return v.DType
	}
	dims := make([]string, len(v.Shape))
	for i, d := range v.Shape {
		if dims[i] = "?"; d != nil {
			dims[i] = fmt.Sprint(d)
		}
	}
	return v.DType + "[" + strings.Join(dims, ", ") + "]"
}

// stateGroup is the states that differ in their layer's number only.
type stateGroup struct {
	input, output, typ string
	numbers            []string
}

var firstNumber = regexp.MustCompile(`\d+`)

// groupStates joins the states of a model's layers: past_key_values.{i}.key.
func groupStates(states []StatePair, types map[string]string) []stateGroup {
	var groups []stateGroup
	for _, s := range states {
		number := firstNumber.FindString(s.Input)
		g := stateGroup{s.Input, s.Output, types[s.Input], nil}
		if number != "" {
			g.input = strings.Replace(s.Input, number, "{i}", 1)
			g.output = strings.Replace(s.Output, number, "{i}", 1)
		}
		same := func(o stateGroup) bool { return o.input == g.input && o.output == g.output && o.typ == g.typ }
		found := find(&groups, same, g)
		found.numbers = append(found.numbers, number)
	}
	return groups
}

// layers says which numbers a group has.
func (g stateGroup) layers() string {
	n := len(g.numbers)
	switch {
	case g.numbers[0] == "":
		return ""
	case n <= 4:
		return "i = " + strings.Join(g.numbers, ", ")
	}
	return fmt.Sprintf("i = %s, %s, …, %s (%d)", g.numbers[0], g.numbers[1], g.numbers[n-1], n)
}
