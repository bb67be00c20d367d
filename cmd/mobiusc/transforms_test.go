package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mobiusc/compiler/checkpoint"
	"mobiusc/internal/checkpointtest"
)

// stored is a checkpoint that keeps the weights of the reduced model otherwise
// than its spec has them, and the rules that say so.
type stored struct {
	name   string
	change func(weights)
	rules  string
}

// TestTransforms compiles a model from checkpoints that store its weights in
// other ways, each with a spec that says so, runs every package in ONNX Runtime
// against the reference, and compares its data with that of the plain
// checkpoint, bit for bit. Without the rules the checkpoint must not give that.
func TestTransforms(t *testing.T) {
	model := filepath.Join("..", "..", "testdata", "reference", "llama")
	plain := compileStored(t, model, readWeights(t, model), "{}")
	for _, c := range storedWays {
		t.Run(c.name, func(t *testing.T) {
			w := readWeights(t, model)
			c.change(w)
			if data := compileStored(t, model, w, c.rules); !bytes.Equal(data, plain) {
				t.Error("the data differs from that of the plain checkpoint")
			}
			if data, _ := tryStored(t, model, w, "{}"); bytes.Equal(data, plain) {
				t.Error("the data is the same without the rules: the case tests nothing")
			}
		})
	}
}

var storedWays = []stored{
	{"cast", func(w weights) {
		for name := range w {
			w[name] = w[name].widened(func(x float64) float64 { return x * (1 + 1e-4) }) // rounds back to the same bfloat16
		}
	}, `{transform: [{match: "*", cast: bfloat16}]}`},
	{"reshape", func(w weights) {
		for name, x := range w {
			w[name] = x.shaped(1, x.count())
		}
	}, `{transform: [{match: "*norm.weight", reshape: [hidden_size]}, {match: "*{up,gate}_proj.weight", reshape: [-1, hidden_size]},
		{match: "*down_proj.weight", reshape: [hidden_size, intermediate_size]}, {match: "*self_attn*", reshape: [-1, hidden_size]},
		{match: "{lm_head,model.embed_tokens}.weight", reshape: [vocab_size, hidden_size]}]}`},
	{"transpose", func(w weights) {
		for name, x := range w {
			if strings.Contains(name, "_proj") {
				w[name] = x.transposed()
			}
		}
	}, `{transform: [{match: "*_proj.weight", transpose: [1, 0]}]}`},
	{"permute_heads from adjacent", func(w weights) {
		w.each("*.q_proj.weight", func(x tensor) tensor { return x.headRows(4, adjacentRow) })
		w.each("*.k_proj.weight", func(x tensor) tensor { return x.headRows(2, adjacentRow) })
	}, `{transform: [{match: "*.q_proj.weight", permute_heads: {heads: num_attention_heads, from: adjacent}},
		{match: "*.k_proj.weight", permute_heads: {heads: num_key_value_heads, from: adjacent}}]}`},
	{"permute_heads from half", func(w weights) {
		w.each("*.q_proj.weight", func(x tensor) tensor { return x.headRows(4, halfRow) })
	}, `{transform: [{match: "*.q_proj.weight", permute_heads: {heads: num_attention_heads, from: half}}]}`},
	{"split", func(w weights) {
		for i := range 2 {
			layer := fmt.Sprintf("model.layers.%d.", i)
			w.join(layer+"attn.qkv.weight", 0, layer+"self_attn.q_proj.weight", layer+"self_attn.k_proj.weight", layer+"self_attn.v_proj.weight")
			w.join(layer+"mlp.gate_up.weight", 0, layer+"mlp.gate_proj.weight", layer+"mlp.up_proj.weight")
		}
	}, `{transform: [{match: "*.attn.qkv.weight", split: {into: ["*.self_attn.q_proj.weight", "*.self_attn.k_proj.weight", "*.self_attn.v_proj.weight"],
			sizes: [hidden_size, hidden_size // 2, hidden_size // 2]}},
		{match: "*.gate_up.weight", split: {into: ["*.gate_proj.weight", "*.up_proj.weight"]}}]}`},
	{"split along the second axis", func(w weights) {
		for i := range 2 {
			layer := fmt.Sprintf("model.layers.%d.", i)
			w[layer+"self_attn.o_proj.weight"] = w[layer+"self_attn.o_proj.weight"].shaped(32, 32)
			w.join(layer+"outputs", 1, layer+"self_attn.o_proj.weight", layer+"mlp.down_proj.weight")
		}
	}, `{transform: [{match: "*.outputs", split: {into: ["*.self_attn.o_proj.weight", "*.mlp.down_proj.weight"], sizes: [32, 64], axis: 1}}]}`},
	{"concat", func(w weights) {
		w.cut("lm_head.weight", 0, "lm_head.first", "lm_head.second")
		w.cut("model.layers.1.mlp.down_proj.weight", 1, "model.layers.1.mlp.down.b", "model.layers.1.mlp.down.a")
	}, `{transform: [{match: "lm_head.{first,second}", concat: {into: lm_head.weight}},
		{match: "*.down.{b,a}", concat: {into: "*.down_proj.weight", axis: 1}}]}`},
	{"stack", func(w weights) {
		w.cut("lm_head.weight", 0, "lm_head.parts.0.weight", "lm_head.parts.1.weight")
	}, `{transform: [{match: "lm_head.parts.*", stack: parts}, {match: lm_head.parts.weight, reshape: [vocab_size, hidden_size]},
		{match: lm_head.parts.weight, concat: {into: lm_head.weight}}]}`},
	{"unstack", func(w weights) {
		for _, norm := range []string{"input_layernorm.weight", "post_attention_layernorm.weight"} {
			w.join("model.layers."+norm, 0, "model.layers.0."+norm, "model.layers.1."+norm)
			w["model.layers."+norm] = w["model.layers."+norm].shaped(2, 32)
		}
	}, `{transform: [{match: "model.layers.{input,post_attention}_layernorm.weight", unstack: layers}]}`},
	{"add", func(w weights) {
		w.each("*norm.weight", func(x tensor) tensor { return x.widened(func(x float64) float64 { return x - 1 }) })
	}, `{transform: [{match: "*norm.weight", add: 1}]}`},
	{"scale", func(w weights) {
		w.each("model.embed_tokens.weight", func(x tensor) tensor { return x.widened(func(x float64) float64 { return 8 * x }) })
	}, `{transform: [{match: model.embed_tokens.weight, scale: 1 / 8}]}`},
	{"several", func(w weights) {
		for i := range 2 {
			q := fmt.Sprintf("model.layers.%d.self_attn.q_proj.weight", i)
			x := w[q].headRows(4, adjacentRow).transposed().widened(func(x float64) float64 { return x/2 - 1 })
			delete(w, q)
			w[fmt.Sprintf("h.%d.wq", i)] = x
		}
	}, `{rename: {"h.*.wq": "model.layers.*.self_attn.q_proj.weight"},
		transform: [{match: "*.q_proj.weight", transpose: [1, 0]}, {match: "*.q_proj.weight", add: 1}, {match: "*.q_proj.weight", scale: 2},
		{match: "*.q_proj.weight", permute_heads: {heads: num_attention_heads, from: adjacent}}]}`},
}

// compileStored compiles the model from weights that the rules describe, checks
// the package against the references and returns its data.
func compileStored(t *testing.T, model string, w weights, rules string) []byte {
	t.Helper()
	data, dir := tryStored(t, model, w, rules)
	if data == nil {
		t.Fatal("the checkpoint does not compile with its rules")
	}
	for _, reference := range []string{"short", "long"} {
		if out, code := commandLine(t, "verify", dir, "-r", filepath.Join(model, reference+".safetensors")); code != exitClean {
			t.Errorf("%s: exit code %d\n%s", reference, code, out)
		}
	}
	return data
}

// tryStored compiles the model and returns the data of the package, and where it
// is; no data if the checkpoint does not fit.
func tryStored(t *testing.T, model string, w weights, rules string) ([]byte, string) {
	t.Helper()
	dir := t.TempDir()
	var tensors []checkpointtest.Tensor
	for name, x := range w {
		tensors = append(tensors, checkpointtest.Tensor{Name: name, DType: x.dtype, Shape: x.shape, Data: x.data})
	}
	slices.SortFunc(tensors, func(a, b checkpointtest.Tensor) int { return strings.Compare(a.Name, b.Name) })
	spec := "spec: v1\nname: x\nextends: llama\nsummary: A test.\nweights: " + rules + "\n"
	for _, err := range []error{
		checkpointtest.WriteDir(filepath.Join(dir, "checkpoint"), tensors, 1),
		copyFile(filepath.Join(model, "config.json"), filepath.Join(dir, "checkpoint", "config.json")),
		os.WriteFile(filepath.Join(dir, "x.yaml"), []byte(spec), 0o666),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out")
	text, code := commandLine(t, "compile", filepath.Join(dir, "x.yaml"), "--weights", filepath.Join(dir, "checkpoint"), "--dtype", "float32", "-o", out)
	if code != exitClean {
		t.Log(text)
		return nil, ""
	}
	data, err := os.ReadFile(filepath.Join(out, "model.onnx.data"))
	if err != nil {
		t.Fatal(err)
	}
	return data, out
}

// commandLine runs a command line and returns what it printed, and its exit code.
func commandLine(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	code := run(t.Context(), append([]string{"mobiusc"}, args...), streams{strings.NewReader(""), &out, &out})
	return out.String(), code
}

// weights is a checkpoint in memory, and tensor one of its tensors.
type (
	weights map[string]tensor
	tensor  struct {
		dtype checkpoint.DType
		shape []int64
		data  []byte
	}
)

func readWeights(t *testing.T, dir string) weights {
	t.Helper()
	c, found := checkpoint.Open(dir, checkpoint.Options{})
	if found.HasErrors() {
		t.Fatal(found)
	}
	defer c.Close()
	w := weights{}
	for _, x := range c.Tensors() {
		data, err := c.Bytes(x)
		if err != nil {
			t.Fatal(err)
		}
		w[x.Name] = tensor{x.DType, x.Shape, bytes.Clone(data)}
	}
	return w
}

// each changes the tensors whose name matches, of which there must be one.
func (w weights) each(pattern string, change func(tensor) tensor) {
	before, after, _ := strings.Cut(pattern, "*")
	for name, x := range w {
		if strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			w[name] = change(x)
		}
	}
}

// join replaces matrices, or vectors, by their concatenation along an axis.
func (w weights) join(into string, axis int, names ...string) {
	out := tensor{dtype: w[names[0]].dtype, shape: slices.Clone(w[names[0]].shape)}
	out.shape[axis] = 0
	rows := 1
	if axis == 1 {
		rows = int(out.shape[0])
	}
	for row := range rows {
		for _, name := range names {
			x := w[name]
			size := len(x.data) / rows
			out.data = append(out.data, x.data[row*size:(row+1)*size]...)
		}
	}
	for _, name := range names {
		out.shape[axis] += w[name].shape[axis]
		delete(w, name)
	}
	w[into] = out
}

// cut replaces a matrix by its two halves along an axis.
func (w weights) cut(name string, axis int, first, second string) {
	x := w[name]
	shape := slices.Clone(x.shape)
	shape[axis] /= 2
	var halves [2][]byte
	if size := len(x.data) / 2; axis == 0 {
		halves = [2][]byte{x.data[:size], x.data[size:]}
	} else {
		size = len(x.data) / int(2*x.shape[0])
		for i := range len(x.data) / size {
			halves[i%2] = append(halves[i%2], x.data[i*size:(i+1)*size]...)
		}
	}
	delete(w, name)
	w[first], w[second] = tensor{x.dtype, shape, halves[0]}, tensor{x.dtype, shape, halves[1]}
}

func (x tensor) count() int64 { return int64(len(x.data)) * 8 / x.dtype.Bits() }

func (x tensor) shaped(shape ...int64) tensor { return tensor{x.dtype, shape, x.data} }

func (x tensor) transposed() tensor {
	rows, columns, w := x.shape[0], x.shape[1], x.dtype.Bits()/8
	out := tensor{x.dtype, []int64{columns, rows}, nil}
	for c := range columns {
		for r := range rows {
			at := (r*columns + c) * w
			out.data = append(out.data, x.data[at:at+w]...)
		}
	}
	return out
}

// headRows stores the rows of each head in another order: the i-th is the one
// that row returns, of so many.
func (x tensor) headRows(heads int, row func(i, rows int) int) tensor {
	out := tensor{x.dtype, x.shape, nil}
	rows := int(x.shape[0]) / heads
	size := len(x.data) / int(x.shape[0])
	for h := range heads {
		for i := range rows {
			at := (h*rows + row(i, rows)) * size
			out.data = append(out.data, x.data[at:at+size]...)
		}
	}
	return out
}

// adjacentRow brings rows i and i + half together; halfRow parts 2i and 2i + 1.
func adjacentRow(i, rows int) int { return i/2 + i%2*(rows/2) }
func halfRow(i, rows int) int     { return 2*i%rows + 2*i/rows }

// widened stores a bfloat16 tensor as float32, changed.
func (x tensor) widened(change func(float64) float64) tensor {
	out := tensor{checkpoint.F32, x.shape, nil}
	for b := x.data; len(b) > 0; b = b[2:] {
		v := math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16)
		out.data = binary.LittleEndian.AppendUint32(out.data, math.Float32bits(float32(change(float64(v)))))
	}
	return out
}
