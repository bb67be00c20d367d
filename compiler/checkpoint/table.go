package checkpoint

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteTable writes the binding as text: a line a parameter, with where its
// bytes come from and what is done to them, then the tensors that are not read,
// and the totals. Unless all is set, the parameters of one kind in all layers
// share a line.
func (b *Binding) WriteTable(w io.Writer, all bool) error {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	component := ""
	for i, r := range b.rows(all) {
		if i == 0 || r.component != component {
			component = r.component
			fmt.Fprintf(t, "%s\tTYPE\tSHAPE\tFROM\tTRANSFORM\n", strings.ToUpper(component))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.name(), r.dtype, r.shape, r.from, r.steps)
	}
	t.Flush() //nolint:errcheck // into memory
	b.writeRest(&text)
	for line := range strings.Lines(text.String()) {
		if _, err := io.WriteString(w, strings.TrimRight(line, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// tableRow is one line of the table.
type tableRow struct {
	component, dtype, shape, from, steps string
	pattern                              string
	names                                []string
}

func (r *tableRow) name() string {
	if len(r.names) == 1 {
		return shown(r.names[0])
	}
	return fmt.Sprintf("%s ×%d", shown(r.pattern), len(r.names))
}

func (b *Binding) rows(all bool) []*tableRow {
	var rows []*tableRow
	index := map[string]*tableRow{}
	for _, x := range b.Bound {
		r := &tableRow{component: x.Param.Component, dtype: x.Param.DType.String(), shape: shape(x.Param.Shape),
			steps: x.Transform(), pattern: familyOf(x.Param.Name), names: []string{x.Param.Name}}
		if all {
			r.from = x.place()
		} else {
			r.from = shown(familyOf(x.Tensors[0]))
			if n := len(x.Tensors); n > 1 {
				r.from += fmt.Sprintf(" and %d more", n-1)
			}
		}
		key := fmt.Sprintln(r.component, r.pattern, r.dtype, r.shape, r.from, r.steps)
		if same := index[key]; same != nil && !all {
			same.names = append(same.names, x.Param.Name)
			continue
		}
		rows, index[key] = append(rows, r), r
	}
	return rows
}

// place returns the file and the bytes, or the tensors that are transformed.
func (x *Bound) place() string {
	if r, ok := x.Source.Region(); ok {
		return fmt.Sprintf("%s %d+%d", r.File(), r.Offset, r.Length)
	}
	names := make([]string, len(x.Tensors))
	for i, name := range x.Tensors {
		names[i] = shown(name)
	}
	return strings.Join(names, " ")
}

// writeRest writes what is not read, and the totals.
func (b *Binding) writeRest(w *strings.Builder) {
	var read, ignored int64
	transformed := 0
	for _, x := range b.Bound {
		read += x.Source.Size()
		if len(x.Steps) > 0 {
			transformed++
		}
	}
	for i := 0; i < len(b.Ignored); {
		rule, n, size := b.Ignored[i].Rule, 0, int64(0)
		for ; i < len(b.Ignored) && b.Ignored[i].Rule == rule; i++ {
			n, size = n+1, size+b.Ignored[i].Tensor.Length
		}
		fmt.Fprintf(w, "ignored: %s: %d tensors, %d bytes: %s\n", rule.Match, n, size, rule.Reason)
		ignored += size
	}
	for _, x := range b.Copies {
		fmt.Fprintf(w, "tied: %s repeats %s\n", shown(x.Tensor.Name), shown(x.Of))
	}
	fmt.Fprintf(w, "%d parameters, %d bytes, %d of them transformed; %d tensors ignored (%d bytes), %d tied\n",
		len(b.Bound), read, transformed, len(b.Ignored), ignored, len(b.Copies))
}
