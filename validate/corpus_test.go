package validate_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mobiusc/compiler/emit"
	"mobiusc/validate"
)

//go:generate python3 testdata/corpus.py testdata/corpus.tar.gz

// verdict is what ONNX's checker says of a model: a message, or nothing.
type verdict struct{ Check, Full string }

// readCorpus calls f for every model of the corpus and returns the verdicts,
// which are the last entry of the archive.
func readCorpus(t testing.TB, f func(name string, data []byte)) map[string]verdict {
	t.Helper()
	file, err := os.Open("testdata/corpus.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]verdict{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return verdicts
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := strings.CutSuffix(h.Name, ".onnx"); ok {
			f(name, data)
		} else if err := json.Unmarshal(data, &verdicts); err != nil {
			t.Fatal(err)
		}
	}
}

// ours is what this package says of a model of the corpus: its errors.
func ours(name string, data []byte) []string {
	m, err := emit.Unmarshal(data, name)
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, f := range validate.Model(m, validate.Options{}) {
		if f.Severity == 0 {
			out = append(out, f.String())
		}
	}
	return out
}

// disagreement is a family of models on which this package and ONNX's checker
// differ, and the reason.
type disagreement struct {
	models   string // a regular expression for their names
	stricter bool   // this package finds an error and ONNX's checker does not
	why      string
}

// withoutRule matches the operators without a rule for shapes in package ops.
const withoutRule = `(sce_|nllloss|gridsample|dft_|dft$|strnorm|tfidf|nonmaxsupp|image_decoder|roialign|deform_conv|col2im|` +
	`convtranspose|flexattention|adagrad|adam|momentum|regex|string_split|ai_onnx_ml|maxunpool)`

// disagreements is complete: a verdict that differs without a line here fails
// the test, and so does a line that no model needs.
var disagreements = []disagreement{
	{`^mutated/opset_future/`, true, "an operator set that does not exist; ONNX's checker takes the newest one it knows"},
	{`^mutated/opset_(seven|latest)/node/(ai_onnx_ml|adagrad|adam|momentum)`, true, "the same for the other domains"},
	{`^mutated/opset_twice/`, true, "ONNX's checker takes the last of two imports of one domain"},
	{`^mutated/initializer_(short|long)/`, true, "ONNX's checker counts bytes of packed types only; runtimes refuse such a tensor"},
	{`^mutated/attribute_reference_outside_function/`, true, "there is nothing to refer to; ONNX's checker does not look"},
	{`^functions/(too_many|attribute_(missing|unknown|reference_unknown))`, true, "ONNX's checker does not compare calls with functions"},
	{`^functions/output_undefined$`, true, "ONNX's checker does not look for the outputs of a function"},
	{`^mutated/(input_rank|output_rank|output_dim|scan_count)/`, true, "inference here also follows the contents of shape tensors, and has rules where ONNX has none"},
	{`^mutated/(input_rank|output_rank|output_dim)/[a-z-]+/` + withoutRule, false, "operators without a rule for their output's shape in package ops; types are checked"},
	{`^mutated/domain_(imported_)?written_out/`, false, "`ai.onnx` for the empty domain: ONNX's checker compares names, runtimes do not; `domain-alias` warns"},
	{`^mutated/attribute_untyped/`, false, "the reader gives an attribute without a type that of its value, as files of IR version 1 need"},
	{`^functions/opset_extended$`, false, "a function's opset differs from the model's, but the operator's schema only grew; `function-opset-version` warns"},
	{`^mutated/opset_(one|seven)/node/flatten_negative_axis`, false, "a negative axis came with Flatten-11; taken as in later versions"},
	{`^mutated/input_type_double/node/bitcast_`, false, "BitCast between types of different widths; not followed"},
	{`^mutated/custom_operator_in_body/node/affine_grid`, false, "ONNX's checker fails for want of the type that the custom operator produces; unknown types fit anything here"},
	{`^node/mvn$`, false, "a valid model, on which the inference of ONNX 1.22.0 fails: its function leaves out an attribute of Constant"},
	{`^mutated/output_(rank|dim)/(simple|node)/expand_`, false, "the shape of Expand hangs on an input of the model; what follows from its length is not followed"},
}

// TestCorpus compares the verdict on every model with that of ONNX's checker.
func TestCorpus(t *testing.T) {
	found := map[string][]string{}
	verdicts := readCorpus(t, func(name string, data []byte) { found[name] = ours(name, data) })
	if len(found) < 6000 || len(found) != len(verdicts) {
		t.Fatalf("%d models and %d verdicts", len(found), len(verdicts))
	}
	agree, needed := 0, make([]int, len(disagreements))
	for name, onnx := range verdicts {
		errors := found[name]
		stricter := len(errors) > 0
		if stricter == (onnx.Full != "") {
			agree++
			continue
		}
		if i := explained(name, stricter); i >= 0 {
			needed[i]++
			continue
		}
		t.Errorf("%s\n  ours: %s\n  onnx: %s", name, strings.Join(errors, "\n        "), onnx.Full)
	}
	for i, n := range needed {
		if n == 0 {
			t.Errorf("no model needs the disagreement about %s", disagreements[i].models)
		}
	}
	t.Logf("%d of %d models: the same verdict", agree, len(verdicts))
}

// explained returns the index of the disagreement that covers a model, or -1.
func explained(name string, stricter bool) int {
	return slices.IndexFunc(disagreements, func(d disagreement) bool {
		return d.stricter == stricter && regexp.MustCompile(d.models).MatchString(name)
	})
}

// FuzzFile validates whatever can be read from a file.
func FuzzFile(f *testing.F) {
	i := 0
	readCorpus(f, func(name string, data []byte) {
		if i++; i%50 == 0 {
			f.Add(data)
		}
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := emit.Unmarshal(data, "fuzz")
		if err == nil {
			validate.Model(m, validate.Options{})
		}
	})
}
