package compiler_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"mobiusc/compiler"
	"mobiusc/compiler/emit"
	"mobiusc/internal/ort"
	"mobiusc/ir"
)

// lastPosition is the last of the longest context of the published models.
const lastPosition = 262_143

// rotaryBound is how far a rotated pair may be from where float64 puts it,
// relative to its length: a few roundings of float32, at any position.
const rotaryBound = 1e-6

// longRange is a model whose keys show its rotary embedding: those of a layer
// whose input does not depend on positions.
type longRange struct {
	model, spec, component string
	layer                  string // the key's output
	dim, rotated           int64  // of a head
	theta                  float64
	axes                   []int // the axis of each frequency; nil: one axis
	scaled                 func(frequency float64) float64
}

var longRanges = []longRange{
	{"llama", "llama", "model", "present.0.key", 8, 8, 10_000, nil, nil},
	{"llama_linear", "llama", "model", "present.0.key", 8, 8, 10_000, nil, func(f float64) float64 { return f / 4 }},
	{"llama_llama3", "llama", "model", "present.0.key", 8, 8, 10_000, nil, byWavelength},
	{"qwen3", "qwen3", "model", "present.0.key", 16, 16, 10_000, nil, nil},
	{"qwen3_5_text", "qwen3_5", "model", "present.3.key", 32, 8, 10_000_000, nil, nil},
	// Sections of 3, 3 and 2 frequencies, one of each axis in turn.
	{"qwen3_5_vl", "qwen3_5", "decoder", "present.3.key", 64, 16, 10_000_000, []int{0, 1, 2, 0, 1, 2, 0, 1}, nil},
}

// byWavelength divides low frequencies by 8: those that turn less than once in
// 16 positions; those that turn four times keep what they are.
func byWavelength(f float64) float64 {
	turns := 16 * f / (2 * math.Pi)
	kept := min(max((turns-1)/(4-1), 0), 1)
	return f/8*(1-kept) + f*kept
}

// TestRotaryLongRange runs whole graphs twice, at positions 0, where nothing is
// turned, and at positions up to the last, and turns the keys of the first run
// in float64. Frequencies are those of the definition, theta^(−2j/dims), scaled
// as the configuration says.
func TestRotaryLongRange(t *testing.T) {
	for _, c := range longRanges {
		for _, opset := range []int64{22, 24} { // without and with RotaryEmbedding in the opset
			t.Run(fmt.Sprintf("%s/%d", c.model, opset), func(t *testing.T) {
				worst, product := c.measure(t, opset)
				t.Logf("pairs are off by up to %.2g of their length; angles that are float32 products would be by %.2g", worst, product)
				if !(worst <= rotaryBound) {
					t.Errorf("a pair is off by %.3g of its length", worst)
				}
				if product < 100*rotaryBound {
					t.Errorf("the positions tell nothing: angles that are float32 products would be off by %.3g only", product)
				}
			})
		}
	}
}

// measure returns how far pairs are off, relative to their length, and how far
// those would be whose angles are float32 products of position and frequency.
func (c longRange) measure(t *testing.T, opset int64) (worst, product float64) {
	session := openComponent(t, c, opset)
	r := rand.New(rand.NewPCG(1, 2))
	at := [][]int64{nil, nil, nil}
	for axis := range at {
		at[axis] = []int64{0, 1, 4095, 65_535, 131_072, lastPosition - 1, lastPosition}
		for range 25 {
			at[axis] = append(at[axis], r.Int64N(lastPosition+1))
		}
		r.Shuffle(len(at[axis]), func(i, j int) { at[axis][i], at[axis][j] = at[axis][j], at[axis][i] })
	}
	tokens := int64(len(at[0]))
	still, turned := c.keys(t, session, make([][]int64, 3), tokens), c.keys(t, session, at, tokens)
	half := c.rotated / 2
	for row := range int64(len(still)) / c.dim {
		for j := range half {
			axis := 0
			if c.axes != nil {
				axis = c.axes[j]
			}
			position, frequency := float64(at[axis][row%tokens]), math.Pow(c.theta, -2*float64(j)/float64(c.rotated))
			if c.scaled != nil {
				frequency = c.scaled(frequency)
			}
			i := row*c.dim + j
			x, y := still[i], still[i+half]
			sin, cos := math.Sincos(position * frequency)
			length := math.Hypot(x, y)
			worst = max(worst, math.Hypot(turned[i]-(x*cos-y*sin), turned[i+half]-(y*cos+x*sin))/length)
			product = max(product, math.Abs(float64(float32(position)*float32(frequency))-position*frequency))
		}
		for i := row*c.dim + c.rotated; i < (row+1)*c.dim; i++ {
			if still[i] != turned[i] {
				t.Fatalf("element %d of a head is turned, and is not to be", i%c.dim)
			}
		}
	}
	return worst, product
}

// openComponent compiles the model in float32 and loads one component.
func openComponent(t *testing.T, c longRange, opset int64) *ort.Session {
	t.Helper()
	dir, out := filepath.Join(referenceDir, c.model), filepath.Join(t.TempDir(), "package")
	found, err := compiler.Compile(context.Background(), compiler.Options{
		Spec: filepath.Join("..", "specs", c.spec+".yaml"), Config: filepath.Join(dir, "config.json"), DType: "float32", Opset: opset,
		Weights: compiler.Weights{Mode: compiler.Copy, Dir: dir}, Out: out,
	})
	if err != nil || found.HasErrors() {
		t.Fatal(err, found)
	}
	manifest, err := emit.ReadManifest(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifest.Components {
		if m.Name != c.component {
			continue
		}
		path := filepath.Join(out, m.Model)
		model, err := emit.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		session, err := ort.Load(path, model, ort.Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { session.Close() })
		return session
	}
	t.Fatalf("the package has no component %s", c.component)
	return nil
}

// keys runs one call of tokens at positions, by axis (nil: all 0), and returns
// the keys of the layer, heads·tokens rows of dim.
func (c longRange) keys(t *testing.T, session *ort.Session, positions [][]int64, tokens int64) []float64 {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	sizes := map[string]int64{"batch": 1, "sequence": tokens, "past": 0}
	inputs := map[string]ort.Tensor{}
	for _, port := range session.Inputs {
		dims, count := make([]int64, len(port.Type.Shape)), int64(1)
		for i, d := range port.Type.Shape {
			dims[i], _ = d.Eval(sizes)
			count *= dims[i]
		}
		x := ort.Tensor{Type: port.Type.Elem, Dims: dims}
		switch port.Name {
		case "input_ids":
			for range count {
				x.Raw = binary.LittleEndian.AppendUint64(x.Raw, r.Uint64N(100))
			}
		case "attention_mask":
			ones := make([]int64, count)
			for i := range ones {
				ones[i] = 1
			}
			x.Raw = int64Bytes(ones)
		case "position_ids":
			for axis := range count / tokens {
				row := positions[axis]
				if row == nil {
					row = make([]int64, tokens)
				}
				x.Raw = append(x.Raw, int64Bytes(row)...)
			}
		case "inputs_embeds":
			for range count {
				x.Raw = binary.LittleEndian.AppendUint32(x.Raw, math.Float32bits(float32(r.NormFloat64())))
			}
		default: // states
			x.Raw = make([]byte, count*int64(port.Type.Elem.Bits())/8)
		}
		inputs[port.Name] = x
	}
	got, err := session.Run(inputs)
	if err != nil {
		t.Fatal(err)
	}
	key := got[c.layer]
	if key.Type != ir.Float32 || key.Dims[len(key.Dims)-1] != c.dim {
		t.Fatalf("%s is %s%v", c.layer, key.Type, key.Dims)
	}
	return float32s(key)
}

func int64Bytes(values []int64) (raw []byte) {
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return raw
}
