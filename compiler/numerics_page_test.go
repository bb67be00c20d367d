package compiler_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mobiusc/compiler"
	"mobiusc/compiler/verify"
	"mobiusc/internal/golden"
	"mobiusc/internal/ort"
	"mobiusc/ops"
)

const numericsPage = "../docs/numerics.md"

// hybrids are the reference models of the family that the page is about first
// of all, by their specs.
var hybrids = []architecture{
	{spec: "qwen3_5", references: []string{"qwen3_5_text", "qwen3_5_vl", "qwen3_5_depth"}},
	{spec: "qwen3_vl", references: []string{"qwen3_vl"}},
}

// section is a table of the page: its rows without numbers, and how to measure
// the numbers. The labels come from the reference tensors and the code.
type section struct {
	name    string
	heading []string
	labels  func(t *testing.T) []string
	// measure gives the cells of the wanted labels, and perhaps of others.
	measure func(t *testing.T, wanted []string) map[string][]string
}

var numericsSections = []section{
	errorSection("hybrids", hybrids),
	errorSection("others", architectures),
	{"depth", []string{"value", "float32: ours", "float16: ours", "float16: reference's"}, depthLabels, depthCells},
	{"opsets", []string{"opset", "qwen3_5_text", "qwen3_5_vl"}, opsetLabels, opsetCells},
	{"rotary", []string{"model", "off by, of a pair's length", "with float32 products"}, rotaryLabels, rotaryCells},
}

// TestNumericsPage checks that docs/numerics.md has a row for everything that
// the reference tensors and the targets give, and none for anything else.
// MEASURE=1, which is `make numerics`, measures every number anew, MEASURE=missing
// those of rows that the page lacks. It is a switch of its own, since numbers
// differ between machines in their last digits.
func TestNumericsPage(t *testing.T) {
	data, err := os.ReadFile(numericsPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, s := range numericsSections {
		before, table, after, err := golden.Section(page, s.name)
		if err != nil {
			t.Fatal(err)
		}
		labels := s.labels(t)
		have := labelsOf(table)
		switch os.Getenv("MEASURE") {
		case "missing":
			page = before + s.completed(t, table, labels) + after
			continue
		case "":
		default:
			page = before + s.table(labels, s.measure(t, labels)) + after
			continue
		}
		if !slices.Equal(have, labels) {
			t.Errorf("table %s has the rows\n%s\nwant\n%s\nrun make numerics", s.name, strings.Join(have, "\n"), strings.Join(labels, "\n"))
		}
		checkCells(t, s, table)
	}
	if page != string(data) {
		if err := os.WriteFile(numericsPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (s section) table(labels []string, cells map[string][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(s.heading, " | "), strings.Repeat("---|", len(s.heading)))
	for _, label := range labels {
		fmt.Fprintf(&b, "| %s | %s |\n", label, strings.Join(cells[label], " | "))
	}
	return b.String()
}

// completed is the table with the rows of labels: those that it has as they are,
// the others measured.
func (s section) completed(t *testing.T, table string, labels []string) string {
	have := labelsOf(table)
	cells := map[string][]string{}
	if missing := slices.DeleteFunc(slices.Clone(labels), func(label string) bool { return slices.Contains(have, label) }); len(missing) > 0 {
		cells = s.measure(t, missing)
	}
	for i, line := range strings.Split(strings.TrimSpace(table), "\n")[2:] {
		cells[have[i]] = strings.Split(strings.Trim(line, "| "), " | ")[1:]
	}
	return s.table(labels, cells)
}

// labelsOf returns the first cells of a table's rows.
func labelsOf(table string) (labels []string) {
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		if i >= 2 {
			label, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
			labels = append(labels, label)
		}
	}
	return labels
}

var numberCells = regexp.MustCompile(`^(\d\.\de[-+]\d\d|\d+\.\d\d|–|0)( / (\d\.\de[-+]\d\d|0))?$`)

// checkCells checks that every row has a number in every column.
func checkCells(t *testing.T, s section, table string) {
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[2:] {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != len(s.heading) {
			t.Errorf("table %s: %d cells in %s", s.name, len(cells), line)
			continue
		}
		for _, c := range cells[1:] {
			if !numberCells.MatchString(c) {
				t.Errorf("table %s: %q is no measured number in %s", s.name, c, line)
			}
		}
	}
}

var errorHeading = []string{"model: value", "float32: ours", "float32: reference's", "float16: ours", "float16: reference's", "largest ratio of max", "of RMS"}

func errorSection(name string, list []architecture) section {
	return section{
		name, errorHeading,
		func(t *testing.T) []string { return errorLabels(t, list) },
		func(t *testing.T, wanted []string) map[string][]string { return errorCells(t, list, wanted) },
	}
}

// errorLabels returns model: component value for each kind of value that the
// cases of the models compare.
func errorLabels(t *testing.T, list []architecture) (labels []string) {
	eachModel(t, list, func(m referenceModel, _ string) {
		seen := map[string]bool{}
		for _, c := range m.Cases {
			for kind := range c.Errors["float16"] {
				seen[m.Name+": "+kind] = true
			}
		}
		labels = append(labels, slices.Sorted(maps.Keys(seen))...)
	})
	return labels
}

func eachModel(t *testing.T, list []architecture, do func(m referenceModel, spec string)) {
	models := readIndex(t).Models
	for _, a := range list {
		for _, name := range a.references {
			i := slices.IndexFunc(models, func(m referenceModel) bool { return m.Name == name })
			if i < 0 {
				t.Fatalf("testdata/reference has no model %s", name)
			}
			do(models[i], a.spec)
		}
	}
}

// errors of one kind of value over all cases.
type kindErrors struct {
	ours32, ref32, ours16, ref16 spread
	ratioMax, ratioRMS           float64 // the largest of a case, float16
}

// spread is a maximum and a sum of squares.
type spread struct {
	max, squares float64
	count        int
}

func (s *spread) add(maximum, rms float64, count int) {
	s.max, s.squares, s.count = max(s.max, maximum), s.squares+rms*rms*float64(count), s.count+count
}

func (s spread) String() string {
	return figure(s.max) + " / " + figure(math.Sqrt(s.squares/float64(max(s.count, 1))))
}

func figure(x float64) string {
	if x == 0 {
		return "0"
	}
	return fmt.Sprintf("%.1e", x)
}

// errorCells measures the models of the wanted labels.
func errorCells(t *testing.T, list []architecture, wanted []string) map[string][]string {
	kinds := map[string]*kindErrors{}
	eachModel(t, list, func(m referenceModel, spec string) {
		if !slices.ContainsFunc(wanted, func(label string) bool { return strings.HasPrefix(label, m.Name+": ") }) {
			return
		}
		single := compileReference(t, m.Name, spec, compiler.Options{DType: "float32"})
		half := compileReference(t, m.Name, spec, compiler.Options{DType: "float16"})
		for _, c := range m.Cases {
			at := func(r verify.Row) (*kindErrors, string) {
				kind := r.Component + "." + r.Value
				label := m.Name + ": " + kind
				if kinds[label] == nil {
					kinds[label] = &kindErrors{}
				}
				return kinds[label], kind
			}
			for _, r := range verify.Summarise(compareCase(t, single, c, float32Tolerance)) {
				e, kind := at(r)
				own := c.Errors["float32"][kind]
				e.ours32.add(r.MaxAbs, r.RMS, r.Count)
				e.ref32.add(own.Max, own.RMS, own.Count)
			}
			for _, r := range verify.Summarise(compareCase(t, half, c, float16Tolerance)) {
				e, _ := at(r)
				e.ours16.add(r.MaxAbs, r.RMS, r.Count)
				e.ref16.add(r.Reference.MaxAbs, r.Reference.RMS, r.Reference.Count)
				if r.Reference.RMS > 0 {
					e.ratioMax, e.ratioRMS = max(e.ratioMax, r.MaxAbs/r.Reference.MaxAbs), max(e.ratioRMS, r.RMS/r.Reference.RMS)
				}
			}
		}
	})
	cells := map[string][]string{}
	for label, e := range kinds {
		cells[label] = []string{e.ours32.String(), e.ref32.String(), e.ours16.String(), e.ref16.String(), ratio(e.ratioMax), ratio(e.ratioRMS)}
	}
	return cells
}

func ratio(x float64) string {
	if x == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", x)
}

// depthValues are states along 64 layers, and what comes out at the end.
var depthValues = []string{
	"present.0.recurrent_state", "present.16.recurrent_state", "present.32.recurrent_state", "present.48.recurrent_state", "present.62.recurrent_state",
	"present.3.key", "present.19.key", "present.35.key", "present.51.key", "present.63.key", "logits",
}

func depthLabels(*testing.T) []string { return depthValues }

func depthCells(t *testing.T, _ []string) map[string][]string {
	cells := map[string][]string{}
	for _, dtype := range []string{"float32", "float16"} {
		p := compileReference(t, "qwen3_5_depth", "qwen3_5", compiler.Options{DType: dtype})
		eachModel(t, []architecture{{spec: "qwen3_5", references: []string{"qwen3_5_depth"}}}, func(m referenceModel, _ string) {
			for _, r := range verify.SummariseSteps(compareCase(t, p, m.Cases[0], float32Tolerance)) {
				if !slices.Contains(depthValues, r.Value) {
					continue
				}
				cells[r.Value] = append(cells[r.Value], figure(r.MaxAbs)+" / "+figure(r.RMS))
				if dtype == "float16" {
					cells[r.Value] = append(cells[r.Value], figure(r.Reference.MaxAbs)+" / "+figure(r.Reference.RMS))
				}
			}
		})
	}
	return cells
}

func opsetLabels(*testing.T) (labels []string) {
	for opset := int64(compiler.MinOpset); opset <= ops.MaxOpset(""); opset++ {
		labels = append(labels, fmt.Sprint(opset))
	}
	return labels
}

// opsetCells gives the largest error of any value in float32.
func opsetCells(t *testing.T, _ []string) map[string][]string {
	t.Setenv(ort.UnreleasedVariable, "0")
	cells := map[string][]string{}
	for opset := int64(compiler.MinOpset); opset <= ops.MaxOpset(""); opset++ {
		for _, model := range []string{"qwen3_5_text", "qwen3_5_vl"} {
			p, worst := compileReference(t, model, "qwen3_5", compiler.Options{DType: "float32", Opset: opset}), 0.0
			eachModel(t, []architecture{{spec: "qwen3_5", references: []string{model}}}, func(m referenceModel, _ string) {
				for _, c := range m.Cases {
					for _, r := range compareCase(t, p, c, float32Tolerance) {
						worst = max(worst, r.MaxAbs)
					}
				}
			})
			label := fmt.Sprint(opset)
			cells[label] = append(cells[label], figure(worst))
		}
	}
	return cells
}

func rotaryLabels(*testing.T) (labels []string) {
	for _, c := range longRanges {
		labels = append(labels, c.model)
	}
	return labels
}

func rotaryCells(t *testing.T, _ []string) map[string][]string {
	cells := map[string][]string{}
	for _, c := range longRanges {
		worst, product := c.measure(t, 24)
		cells[c.model] = []string{figure(worst), figure(product)}
	}
	return cells
}
