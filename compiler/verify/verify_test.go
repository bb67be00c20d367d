package verify

import (
	"context"
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/compiler/checkpoint"
	"mobiusc/compiler/emit"
	"mobiusc/internal/checkpointtest"
	"mobiusc/internal/ort"
	"mobiusc/ir"
)

// The package of these tests: an encoder that doubles what it is given, and a
// decoder whose logits are its input plus the sum of the features, with a state
// of the last column and one that grows by a column for each of the input.
const (
	encoderText = `<ir_version: 10, opset_import: ["": 22]>
encoder (float[patches, 2] pixels) => (float[patches, 2] features) <float two = {2.0}> {
  features = Mul (pixels, two)
}`
	decoderText = `<ir_version: 10, opset_import: ["": 22]>
decoder (float[batch, sequence, 2] x, int64[batch, "past + sequence"] attention_mask, float[patches, 2] features,
         float[batch, past, 2] "past.0.key", float[batch, 2] "past.0.last")
  => (float[batch, sequence, 2] logits, float[batch, "past + sequence", 2] "present.0.key", float[batch, 2] "present.0.last")
<int64[1] rows = {0}, int64[1] columns = {1}, int64 last = {-1}> {
  sum = ReduceSum <keepdims: int = 0> (features, rows)
  logits = Add (x, sum)
  "present.0.key" = Concat <axis: int = 1> ("past.0.key", x)
  end = Gather <axis: int = 1> (x, last)
  "present.0.last" = Add (end, "past.0.last")
}`
)

// writePackage writes the package of the tests and returns its directory.
func writePackage(t *testing.T) string {
	t.Helper()
	parse := func(text string) *ir.Model {
		m, err := ir.ParseModel("test", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	p := &emit.Package{
		Header: emit.Header{Tool: "test", Weights: "none"},
		Components: []*emit.Component{ // the decoder first: verify sorts them
			{
				Name: "decoder", Model: parse(decoderText), From: map[string]string{"features": "encoder.features"},
				States: []emit.StatePair{{Input: "past.0.key", Output: "present.0.key"}, {Input: "past.0.last", Output: "present.0.last"}},
			},
			{Name: "encoder", Model: parse(encoderText)},
		},
	}
	dir := filepath.Join(t.TempDir(), "package")
	if err := p.Write(context.Background(), dir, emit.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

func openPackage(t *testing.T) *Package {
	t.Helper()
	p, err := Open(writePackage(t), ort.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// tensors is the content of a reference file.
type tensors map[string]ort.Tensor

func f32(dims []int64, values ...float32) ort.Tensor {
	t := ort.Tensor{Type: ir.Float32, Dims: dims}
	for _, v := range values {
		t.Raw = binary.LittleEndian.AppendUint32(t.Raw, math.Float32bits(v))
	}
	return t
}

func i64(dims []int64, values ...int64) ort.Tensor {
	t := ort.Tensor{Type: ir.Int64, Dims: dims}
	for _, v := range values {
		t.Raw = binary.LittleEndian.AppendUint64(t.Raw, uint64(v))
	}
	return t
}

// twoSteps is a reference that the package agrees with: a padded prompt of two
// rows with features, and one more column without.
func twoSteps() tensors {
	return tensors{
		"step0.encoder.in.pixels":          f32([]int64{2, 2}, 1, 0, 0.5, 2),
		"step0.encoder.out.features":       f32([]int64{2, 2}, 2, 0, 1, 4),
		"step0.decoder.in.x":               f32([]int64{2, 2, 2}, 1, 2, 3, 4, 5, 6, 7, 8),
		"step0.decoder.in.attention_mask":  i64([]int64{2, 2}, 1, 1, 0, 1),
		"step0.decoder.out.logits":         f32([]int64{2, 2, 2}, 4, 6, 6, 8, 99, 99, 10, 12), // 99: padding
		"step0.decoder.f16.logits":         f32([]int64{2, 2, 2}, 4, 6.5, 6, 8, 0, 0, 10, 12),
		"step0.greedy":                     i64([]int64{2}, 1, 1),
		"step1.decoder.in.x":               f32([]int64{2, 1, 2}, 10, 20, 30, 40),
		"step1.decoder.in.attention_mask":  i64([]int64{2, 3}, 1, 1, 1, 0, 1, 1),
		"step1.decoder.out.logits":         f32([]int64{2, 1, 2}, 10, 20, 30, 40),
		"step1.decoder.out.present.0.key":  f32([]int64{2, 3, 2}, 1, 2, 3, 4, 10, 20, -7, -7, 7, 8, 30, 40), // −7: padding
		"step1.decoder.out.present.0.last": f32([]int64{2, 2}, 13, 24, 37, 48),
	}
}

// with returns a copy with changes; a tensor of no type is left out.
func (x tensors) with(changes tensors) tensors {
	out := tensors{}
	for name, v := range x {
		out[name] = v
	}
	for name, v := range changes {
		if v.Type == ir.Undefined {
			delete(out, name)
			continue
		}
		out[name] = v
	}
	return out
}

// write writes a reference file and returns its path.
func (x tensors) write(t *testing.T) string {
	t.Helper()
	types := map[ir.DataType]checkpoint.DType{
		ir.Float32: checkpoint.F32, ir.Float64: checkpoint.F64, ir.Float16: checkpoint.F16, ir.Int64: checkpoint.I64, ir.Int32: checkpoint.I32, ir.Uint16: checkpoint.U16,
	}
	var list []checkpointtest.Tensor
	for name, v := range x {
		list = append(list, checkpointtest.Tensor{Name: name, DType: types[v.Type], Shape: v.Dims, Data: v.Raw})
	}
	path := filepath.Join(t.TempDir(), "case.safetensors")
	if err := checkpointtest.WriteFile(path, list); err != nil {
		t.Fatal(err)
	}
	return path
}

func (x tensors) read(t *testing.T) *Reference {
	t.Helper()
	r, err := ReadReference(x.write(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCompare plays the two steps: states are carried, features go from one
// component to the other, padding does not count, and every output is compared.
func TestCompare(t *testing.T) {
	results, err := openPackage(t).Compare(twoSteps().read(t), Tolerance{1e-6, 0})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, r := range results {
		if r.MaxAbs != 0 || r.Error.Outside != 0 || r.RMS != 0 {
			t.Errorf("step %d %s %s: %+v", r.Step, r.Component, r.Value, r.Error)
		}
		if r.Value == "logits" && r.Argmax != 1 {
			t.Errorf("step %d: the largest logits agree in %g of the rows", r.Step, r.Argmax)
		}
		counts[r.Component+"."+r.Value] += r.Count
	}
	want := map[string]int{"encoder.features": 4, "decoder.logits": 6 + 4, "decoder.present.0.key": 10, "decoder.present.0.last": 4}
	for name, n := range want {
		if counts[name] != n {
			t.Errorf("%s: %d elements count, want %d", name, counts[name], n)
		}
	}
	if len(counts) != len(want) {
		t.Errorf("compared %v", counts)
	}
	if r := results[1].Reference; r == nil || r.MaxAbs != 0.5 || r.Count != 6 || math.Abs(r.RMS-math.Sqrt(0.25/6)) > 1e-12 {
		t.Errorf("the reference's float16 run: %+v", r)
	}
}

// TestCompareNotices checks that each kind of difference is outside the tolerance.
func TestCompareNotices(t *testing.T) {
	p := openPackage(t)
	nan := float32(math.NaN())
	for _, c := range []struct {
		name    string
		changes tensors
		value   string
		max     float64
		argmax  float64
	}{
		{"logits", tensors{"step1.decoder.out.logits": f32([]int64{2, 1, 2}, 10, 20, 30.5, 40)}, "logits", 0.5, 1},
		{"greedy choice", tensors{"step1.decoder.out.logits": f32([]int64{2, 1, 2}, 10, 20, 41, 40)}, "logits", 11, 0.5},
		{"a state", tensors{"step1.decoder.out.present.0.last": f32([]int64{2, 2}, 13, 24, 37, 49)}, "present.0.last", 1, -1},
		{"a key that counts", tensors{"step1.decoder.out.present.0.key": f32([]int64{2, 3, 2}, 1, 2, 3, 4, 10, 20, 0, 0, 7, 9, 30, 40)}, "present.0.key", 1, -1},
		{"no number", tensors{"step1.decoder.out.present.0.last": f32([]int64{2, 2}, 13, nan, 37, 48)}, "present.0.last", math.Inf(1), -1},
		{"a mask that hides less", tensors{"step0.decoder.in.attention_mask": i64([]int64{2, 2}, 1, 1, 1, 1)}, "logits", 91, 0.75},
	} {
		t.Run(c.name, func(t *testing.T) {
			results, err := p.Compare(twoSteps().with(c.changes).read(t), Tolerance{1e-6, 1e-6})
			if err != nil {
				t.Fatal(err)
			}
			var off []Result
			for _, r := range results {
				if r.Error.Outside > 0 {
					off = append(off, r)
				}
			}
			if len(off) != 1 || off[0].Value != c.value || off[0].MaxAbs != c.max || off[0].Argmax != c.argmax {
				t.Errorf("outside the tolerance: %+v", off)
			}
			if !(Report{Rows: Summarise(results)}).Outside() {
				t.Error("the report does not say so")
			}
		})
	}
}

// TestContinuation begins with states that the reference gives.
func TestContinuation(t *testing.T) {
	x := tensors{
		"step0.decoder.in.x":              f32([]int64{1, 1, 2}, 1, 2),
		"step0.decoder.in.attention_mask": i64([]int64{1, 2}, 1, 1),
		"step0.decoder.in.past.0.key":     f32([]int64{1, 1, 2}, 5, 6),
		"step0.decoder.in.past.0.last":    f32([]int64{1, 2}, 1, 1),
		"step0.decoder.in.features":       f32([]int64{1, 2}, 1, 1),
		"step0.decoder.out.present.0.key": f32([]int64{1, 2, 2}, 5, 6, 1, 2),
		"step0.decoder.out.logits":        f32([]int64{1, 1, 2}, 2, 3),
	}
	results, err := openPackage(t).Compare(x.read(t), Tolerance{})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 2 || (Report{Rows: Summarise(results)}).Outside() {
		t.Errorf("%+v", results)
	}
}

// TestMisfit checks what is said of references that do not fit the package.
func TestMisfit(t *testing.T) {
	p := openPackage(t)
	none := ort.Tensor{}
	for _, c := range []struct {
		name    string
		changes tensors
		want    []string // lines
	}{
		{"component", tensors{"step0.decodr.in.x": f32([]int64{1}, 1)}, []string{
			"case, step 0: the package has no component decodr; did you mean decoder?"}},
		{"component of another package", tensors{"step0.model.in.x": f32([]int64{1}, 1)}, []string{
			"case, step 0: the package has no component model; there are encoder, decoder"}},
		{"input", tensors{"step0.decoder.in.attention_msk": i64([]int64{2, 2}, 1, 1, 1, 1), "step0.decoder.in.attention_mask": none}, []string{
			"case, step 0, component decoder: there is no input attention_msk; did you mean attention_mask?",
			"case, step 0, component decoder: input attention_mask int64[batch,\"past + sequence\"] is missing; it is neither a state nor another component's output"}},
		{"output", tensors{"step1.decoder.out.present.1.key": f32([]int64{1}, 1)}, []string{
			"case, step 1, component decoder: there is no output present.1.key; did you mean present.0.key?"}},
		{"dtype", tensors{"step0.decoder.in.attention_mask": {Type: ir.Int32, Dims: []int64{2, 2}, Raw: make([]byte, 16)}}, []string{
			"case, step 0, component decoder: input attention_mask is int32[2 2] in the reference and int64[batch,\"past + sequence\"] in the package"}},
		{"rank", tensors{"step1.decoder.in.x": f32([]int64{2, 2}, 1, 2, 3, 4)}, []string{
			"case, step 1, component decoder: input x is float[2 2] in the reference and float[batch,sequence,2] in the package"}},
		{"width", tensors{"step1.decoder.out.logits": f32([]int64{2, 1, 1}, 1, 2)}, []string{
			"case, step 1, component decoder: output logits is float[2 1 1] in the reference and float[batch,sequence,2] in the package"}},
		{"float16 alone", tensors{"step1.decoder.f16.present.0.key": f32([]int64{2, 3, 2}, make([]float32, 12)...), "step1.decoder.out.present.0.key": none}, []string{
			"case, step 1, component decoder: output present.0.key has a float16 run and no expected value"}},
		{"open size", tensors{"step1.decoder.out.logits": f32([]int64{2, 2, 2}, make([]float32, 8)...), "step0.encoder.out.features": f32([]int64{1, 2}, 2, 0)}, []string{
			"case, step 0, component encoder: output features is [2 2], and [1 2] in the reference",
			"case, step 1, component decoder: output logits is [2 1 2], and [2 2 2] in the reference"}},
		{"sizes that contradict each other", tensors{"step1.decoder.in.attention_mask": i64([]int64{2, 5}, make([]int64, 10)...)}, []string{
			"case, step 1: component decoder: input past.0.key has 2 in dim 1, but past is 4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := p.Compare(twoSteps().with(c.changes).read(t), Tolerance{})
			if err == nil || err.Error() != strings.Join(c.want, "\n") {
				t.Errorf("got:\n%v\nwant:\n%s", err, strings.Join(c.want, "\n"))
			}
		})
	}
	t.Run("nothing to compare", func(t *testing.T) {
		x := tensors{"step0.encoder.in.pixels": f32([]int64{1, 2}, 1, 2)}
		if err := p.Check(x.read(t)); err == nil || !strings.HasPrefix(err.Error(), "case: it states no output") {
			t.Error(err)
		}
	})
	t.Run("many problems", func(t *testing.T) {
		x := twoSteps()
		for i := range 30 {
			x["step0.decoder.out.z"+strings.Repeat("z", i)] = f32([]int64{1}, 1)
		}
		err := p.Check(x.read(t))
		if lines := strings.Split(err.Error(), "\n"); len(lines) != maxProblems+1 || lines[maxProblems] != "and 10 more" {
			t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
		}
	})
}

// TestOpen checks what is said of directories that cannot be run.
func TestOpen(t *testing.T) {
	for _, c := range []struct{ dir, want string }{
		{t.TempDir(), "not a mobiusc package"},
		{"../emit/testdata/package", ""},
		{unreleased(t), "The graph is of opset 27; ONNX Runtime 1.30.0 takes those above 26 only where ALLOW_RELEASED_ONNX_OPSET_ONLY=0 is in the environment"},
		{unbound(t), "holds graphs without weights: 2 tensors have no content, such as w; compile it with --weights DIR"},
	} {
		p, err := Open(c.dir, ort.Options{})
		if c.want == "" {
			if err != nil {
				t.Error(err)
				continue
			}
			p.Close()
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.dir, err, c.want)
		}
	}
}

// unreleased writes a package of an opset that the runtime does not load
// without being asked to. Its first component loads.
func unreleased(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "package")
	p := &emit.Package{Header: emit.Header{Tool: "test", Weights: "none"}}
	for i, opset := range []string{"22", "27"} {
		m, err := ir.ParseModel("test", []byte(strings.Replace(encoderText, "22", opset, 1)))
		if err != nil {
			t.Fatal(err)
		}
		p.Components = append(p.Components, &emit.Component{Name: []string{"first", "second"}[i], Model: m})
	}
	if err := p.Write(context.Background(), dir, emit.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// unbound writes a package that is compiled without weights.
func unbound(t *testing.T) string {
	t.Helper()
	m, err := ir.ParseModel("test", []byte(encoderText))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"w", "v"} {
		w := &ir.Tensor{Type: ir.Float32, Dims: []int64{2}, External: &ir.External{}}
		v := m.Graph.AddInitializer(name, w)
		out := ir.NewValue(name+".out", ir.TensorOf(ir.Float32, ir.Int(2)))
		m.Graph.Append(ir.NewNode("", "Neg", []*ir.Value{v}, []*ir.Value{out}))
	}
	dir := filepath.Join(t.TempDir(), "package")
	p := &emit.Package{Header: emit.Header{Tool: "test", Weights: "none"}, Components: []*emit.Component{{Name: "encoder", Model: m}}}
	if err := p.Write(context.Background(), dir, emit.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}
