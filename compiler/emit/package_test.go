package emit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/ir"
)

// testComponent returns a graph that multiplies its input by a weight, adds a
// large constant, and hands a state on.
func testComponent(name string, dtype ir.DataType, width int64) *Component {
	batch, w := ir.Sym("batch"), ir.Int(width)
	g := ir.NewGraph(name)
	x := ir.NewValue("x", ir.TensorOf(dtype, batch, ir.Int(4)))
	wide := ir.TensorOf(dtype, batch, w)
	past := ir.NewValue("past.0.state", wide)
	g.Inputs = append(g.Inputs, x, past)
	weight := g.AddInitializer("layers.0.weight", &ir.Tensor{Type: dtype, Dims: []int64{width, 4}, External: &ir.External{}})
	bias := g.AddInitializer("layers.0.bias", &ir.Tensor{Type: dtype, Dims: []int64{width}, External: &ir.External{}})
	table := g.AddInitializer("table", &ir.Tensor{Type: dtype, Dims: []int64{width}, Raw: bytes.Repeat([]byte{0, 0, 0x80, 0x3f}, int(width)*dtype.Bits()/32)})
	axes := g.AddInitializer("axes", ir.Ints64(0))
	y, present := ir.NewValue("y", wide), ir.NewValue("present.0.state", wide)
	h, k, r := ir.NewValue("h", wide), ir.NewValue("k", wide), ir.NewValue("r", ir.TensorOf(dtype, ir.Int(1), w))
	g.Append(ir.NewNode("", "Gemm", []*ir.Value{x, weight, bias}, []*ir.Value{h}, ir.IntAttr("transB", 1)))
	g.Append(ir.NewNode("", "Add", []*ir.Value{h, past}, []*ir.Value{k}))
	g.Append(ir.NewNode("", "Unsqueeze", []*ir.Value{table, axes}, []*ir.Value{r}))
	g.Append(ir.NewNode("", "Add", []*ir.Value{k, r}, []*ir.Value{y}))
	g.Append(ir.NewNode("", "Neg", []*ir.Value{k}, []*ir.Value{present}))
	g.Outputs = append(g.Outputs, y, present)
	return &Component{
		Name:   name,
		Model:  &ir.Model{IRVersion: 10, Opsets: []ir.Opset{{Version: 24}}, ProducerName: "mobiusc", Graph: g},
		States: []StatePair{{"past.0.state", "present.0.state"}},
	}
}

// randomize makes the component's weights random.
func (c *Component) randomize(seed uint64) *Component {
	c.Weights = map[string]Weight{}
	var weights []RandomWeight
	for _, v := range c.Model.Graph.Initializers {
		if v.Init.External != nil {
			c.Weights[v.Name] = Weight{Bound: true}
			weights = append(weights, RandomWeight{Name: v.Name, Tensor: v.Init, Std: 0.1})
		}
	}
	c.Fill = func(ctx context.Context, path string) error { return FillRandom(ctx, path, seed, weights, nil) }
	return c
}

// testPackage returns a package of the given components with random weights.
func testPackage(seed uint64, names ...string) *Package {
	p := &Package{
		Header: Header{
			Tool: "mobiusc test", Spec: Origin{"spec", "00ff"}, Config: Origin{Name: "config.json"},
			Options: map[string]string{"opset": "24", "dtype": "float"}, Weights: "random",
		},
		Files: map[string][]byte{"genai_config.json": []byte("{}\n")},
	}
	for i, name := range names {
		c := testComponent(name, ir.Float32, 256).randomize(seed)
		if i > 0 {
			c.From = map[string]string{"x": names[i-1] + ".y"}
		}
		p.Components = append(p.Components, c)
	}
	return p
}

// tree returns the files below root with the hashes of their content.
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		out[filepath.ToSlash(rel)] = fmt.Sprintf("%x", sha256.Sum256(readFile(t, name)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sameTree(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func write(t testing.TB, p *Package, dir string, o WriteOptions) {
	t.Helper()
	if err := p.Write(t.Context(), dir, o); err != nil {
		t.Fatal(err)
	}
}

// leftovers lists the stages in a directory.
func leftovers(t testing.TB, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, ".mobiusc-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestWriteLayout(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"model"}, "genai_config.json mobiusc.json model.onnx model.onnx.data"},
		{[]string{"vision", "decoder"}, "decoder/model.onnx decoder/model.onnx.data genai_config.json mobiusc.json vision/model.onnx vision/model.onnx.data"},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		write(t, testPackage(1, c.names...), dir, WriteOptions{})
		files, err := listFiles(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(files, " "); got != c.want {
			t.Errorf("files of %v: %s; want %s", c.names, got, c.want)
		}
		m, err := ReadManifest(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Files) != len(files)-1 {
			t.Errorf("the manifest lists %v, the directory holds %v", m.Files, files)
		}
		if left := leftovers(t, filepath.Dir(dir)); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestWriteIsDeterministic(t *testing.T) {
	parent := t.TempDir()
	a, b, c := filepath.Join(parent, "a"), filepath.Join(parent, "b"), filepath.Join(parent, "c")
	write(t, testPackage(1, "x", "y"), a, WriteOptions{})
	write(t, testPackage(1, "x", "y"), b, WriteOptions{})
	write(t, testPackage(2, "x", "y"), c, WriteOptions{})
	if !sameTree(tree(t, a), tree(t, b)) {
		t.Errorf("equal packages differ:\n%v\n%v", tree(t, a), tree(t, b))
	}
	if sameTree(tree(t, a), tree(t, c)) {
		t.Error("another seed gave the same package")
	}
}

// TestPlan checks the rule of the layout: constants first, big tensors at
// pages, small ones at cache lines, what has a location left alone.
func TestPlan(t *testing.T) {
	g := ir.NewGraph("g")
	add := func(name string, bytes int64, external *ir.External) *ir.Tensor {
		tensor := &ir.Tensor{Type: ir.Uint8, Dims: []int64{bytes}, External: external}
		if external == nil {
			tensor.Raw = make([]byte, bytes)
		}
		return g.AddInitializer(name, tensor).Init
	}
	w := func() *ir.External { return &ir.External{} }
	big, tiny, other := add("big", 10000, w()), add("tiny", 3, w()), add("other", 5, w())
	inPlace := add("in place", 7, &ir.External{Location: "model.safetensors", Offset: 9, Length: 7})
	inline, constant := add("inline", inlineSize-1, nil), add("constant", inlineSize, nil)
	last := add("last", pageSize, w())
	l, err := plan(g, "m.data")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		t    *ir.Tensor
		want ir.External
	}{
		{constant, ir.External{Location: "m.data", Offset: 0, Length: inlineSize}},
		{big, ir.External{Location: "m.data", Offset: 4096, Length: 10000}},
		{tiny, ir.External{Location: "m.data", Offset: 14144, Length: 3}},
		{other, ir.External{Location: "m.data", Offset: 14208, Length: 5}},
		{last, ir.External{Location: "m.data", Offset: 16384, Length: pageSize}},
		{inPlace, ir.External{Location: "model.safetensors", Offset: 9, Length: 7}},
	} {
		if c.t.External == nil || *c.t.External != c.want {
			t.Errorf("%v: external data %+v, want %+v", c.t.Dims, c.t.External, c.want)
		}
	}
	if inline.External != nil || constant.Raw != nil {
		t.Error("a small constant moved out of the graph, or a large one stayed")
	}
	if l.size != 16384+pageSize || l.weights != 4 || len(l.constants) != 1 {
		t.Errorf("layout: %d bytes, %d weights, %d constants", l.size, l.weights, len(l.constants))
	}
	add("bad", 1, w()).Dims = []int64{-1}
	if _, err := plan(g, "m.data"); err == nil || !strings.Contains(err.Error(), `"bad"`) {
		t.Errorf("a tensor without size: %v, want an error that names it", err)
	}
}

// TestWriteAgain checks that a package can be written twice, but not in place
// after it was written as a directory: its graphs name other files.
func TestWriteAgain(t *testing.T) {
	parent := t.TempDir()
	p := testPackage(1, "a", "b")
	write(t, p, filepath.Join(parent, "first"), WriteOptions{})
	write(t, p, filepath.Join(parent, "second"), WriteOptions{})
	if !sameTree(tree(t, filepath.Join(parent, "first")), tree(t, filepath.Join(parent, "second"))) {
		t.Error("writing a package again changes it")
	}
	if err := p.WriteInPlace(t.Context(), t.TempDir(), WriteOptions{}); err == nil || !strings.Contains(err.Error(), "placed at a/model.onnx") {
		t.Errorf("writing in place what was written as a directory: %v, want an error", err)
	}
}

// TestUnbound checks that a package without weights declares the same layout
// and has a data file with the constants only.
func TestUnbound(t *testing.T) {
	parent := t.TempDir()
	full, bare := filepath.Join(parent, "full"), filepath.Join(parent, "bare")
	write(t, testPackage(1, "model"), full, WriteOptions{})
	p := testPackage(1, "model")
	p.Components[0].Fill, p.Components[0].Weights, p.Weights = nil, nil, "none"
	write(t, p, bare, WriteOptions{})
	a, b := tree(t, full), tree(t, bare)
	if a["model.onnx"] != b["model.onnx"] {
		t.Error("the graph depends on whether its weights are bound")
	}
	if size := len(readFile(t, filepath.Join(bare, "model.onnx.data"))); size != 1024 {
		t.Errorf("the data file has %d bytes, want the constant's 1024", size)
	}
	m, err := ReadManifest(bare)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range m.Components[0].Tensors {
		if e.Bound != e.Constant {
			t.Errorf("tensor %s: bound %v, constant %v", e.Name, e.Bound, e.Constant)
		}
	}
}

func TestDestinations(t *testing.T) {
	parent := t.TempDir()
	existing := filepath.Join(parent, "existing")
	write(t, testPackage(1, "model"), existing, WriteOptions{})
	before := tree(t, existing)
	mkdir := func(name string) string {
		dir := filepath.Join(parent, name)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	touch := func(name string) {
		if err := os.WriteFile(name, []byte("precious"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	notes := mkdir("notes")
	touch(filepath.Join(notes, "notes.txt"))
	extended := filepath.Join(parent, "extended")
	write(t, testPackage(1, "model"), extended, WriteOptions{})
	touch(filepath.Join(extended, "tokenizer.json"))
	file := filepath.Join(parent, "file")
	touch(file)
	for _, c := range []struct {
		name, dir string
		force     bool
		is        error
		want      string
	}{
		{"a package without force", existing, false, ErrExists, "--force"},
		{"another directory without force", notes, false, ErrExists, "--force"},
		{"another directory", notes, true, ErrNotPackage, "only a package is replaced"},
		{"a package with the user's file", extended, true, ErrForeignFiles, "tokenizer.json (1 in all)"},
		{"a file", file, true, ErrExists, "is not a directory"},
		{"no parent", filepath.Join(parent, "no", "out"), false, nil, "does not exist; make it first"},
	} {
		err := testPackage(2, "model").Write(t.Context(), c.dir, WriteOptions{Force: c.force})
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %v with %q", c.name, err, c.is, c.want)
		}
	}
	if err := testPackage(1, "model").Write(t.Context(), filepath.Join(file, "out"), WriteOptions{}); err == nil || !strings.Contains(err.Error(), "is not a directory") {
		t.Errorf("a file as parent: %v", err)
	}
	write(t, testPackage(2, "model"), mkdir("empty"), WriteOptions{})
	if left := leftovers(t, parent); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if !sameTree(before, tree(t, existing)) {
		t.Error("a refused package was changed")
	}
	write(t, testPackage(2, "model"), existing, WriteOptions{Force: true})
	if sameTree(before, tree(t, existing)) || len(leftovers(t, parent)) > 0 {
		t.Errorf("force did not replace the package, or left %v", leftovers(t, parent))
	}
}

// TestDestinationLinks checks that a destination reached through a link is the
// directory it leads to.
func TestDestinationLinks(t *testing.T) {
	parent := t.TempDir()
	real, link := filepath.Join(parent, "real"), filepath.Join(parent, "link")
	write(t, testPackage(1, "model"), real, WriteOptions{})
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	before := tree(t, real)
	write(t, testPackage(2, "model"), link, WriteOptions{Force: true})
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v %v", info, err)
	}
	if sameTree(before, tree(t, real)) {
		t.Error("the package behind the link was not replaced")
	}
	if err := os.Symlink("nowhere", filepath.Join(parent, "dangling")); err != nil {
		t.Fatal(err)
	}
	if err := testPackage(1, "model").Write(t.Context(), filepath.Join(parent, "dangling"), WriteOptions{}); err == nil || !strings.Contains(err.Error(), "link to nowhere") {
		t.Errorf("a dangling link: %v", err)
	}
}

func TestWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := testPackage(1, "model").Write(t.Context(), ".", WriteOptions{}); err == nil || !strings.Contains(err.Error(), "working directory") {
		t.Errorf("the working directory as destination: %v", err)
	}
}

// TestInputsSurvive checks that no path to an input lets it be replaced.
func TestInputsSurvive(t *testing.T) {
	for _, how := range []string{"same path", "symlink", "hard link", "package's file is a symlink"} {
		t.Run(how, func(t *testing.T) {
			parent := t.TempDir()
			out := filepath.Join(parent, "out")
			write(t, testPackage(1, "model"), out, WriteOptions{})
			data := filepath.Join(out, "model.onnx.data")
			input := filepath.Join(parent, "weights")
			var err error
			switch how {
			case "same path":
				input = data
			case "symlink":
				err = os.Symlink(data, input)
			case "hard link":
				err = os.Link(data, input)
			default:
				err = errors.Join(os.Rename(data, input), os.Symlink(input, data))
			}
			if err != nil {
				t.Fatal(err)
			}
			before := tree(t, out)
			err = testPackage(2, "model").Write(t.Context(), out, WriteOptions{Force: true, Inputs: []string{input}})
			if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "model.onnx.data") {
				t.Errorf("got %v, want ErrInput", err)
			}
			if !sameTree(before, tree(t, out)) {
				t.Error("the package was changed")
			}
		})
	}
}

func TestFailureCleansUp(t *testing.T) {
	parent := t.TempDir()
	out := filepath.Join(parent, "out")
	p := testPackage(1, "model")
	p.Components[0].Fill = func(context.Context, string) error { return errors.New("disk on fire") }
	if err := p.Write(t.Context(), out, WriteOptions{}); err == nil || !strings.Contains(err.Error(), "component model: disk on fire") {
		t.Errorf("error of Fill: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := testPackage(1, "model").Write(ctx, out, WriteOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if entries, err := os.ReadDir(parent); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

func TestPackageNames(t *testing.T) {
	file := func(name string) func(*Package) {
		return func(p *Package) { p.Files = map[string][]byte{name: nil} }
	}
	for _, c := range []struct {
		name   string
		change func(*Package)
	}{
		{"no components", func(p *Package) { p.Components = nil }},
		{"empty", func(p *Package) { p.Components[0].Name = "" }},
		{"path", func(p *Package) { p.Components[0].Name = "a/b" }},
		{"parent", func(p *Package) { p.Components[0].Name = ".." }},
		{"twice", func(p *Package) { p.Components = append(p.Components, p.Components[0]) }},
		{"manifest", func(p *Package) { p.Components[0].Name = ManifestName }},
		{"file outside", file("../x")},
		{"file in a component", file("model/x")},
		{"file is the manifest", file(ManifestName)},
	} {
		p := testPackage(1, "model")
		c.change(p)
		if err := p.Write(t.Context(), filepath.Join(t.TempDir(), "out"), WriteOptions{}); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
}

func TestWriteInPlace(t *testing.T) {
	dir := t.TempDir()
	weights := filepath.Join(dir, "model.safetensors")
	if err := os.WriteFile(weights, []byte("weights"), 0o666); err != nil {
		t.Fatal(err)
	}
	o := WriteOptions{Inputs: []string{weights}}
	pack := func(names ...string) *Package {
		p := testPackage(1, names...)
		for _, c := range p.Components {
			g := c.Model.Graph
			*g.Initializers[0].Init.External = ir.External{Location: "model.safetensors", Offset: 1, Length: g.Initializers[0].Init.ByteLen()}
		}
		return p
	}
	inPlace := func(o WriteOptions, names ...string) error { return pack(names...).WriteInPlace(t.Context(), dir, o) }
	if err := inPlace(o, "vision", "decoder"); err != nil {
		t.Fatal(err)
	}
	want := func(files string) {
		t.Helper()
		if got, err := listFiles(dir); err != nil || strings.Join(got, " ") != files {
			t.Errorf("files: %v %v; want %s", got, err, files)
		}
	}
	want("decoder.onnx decoder.onnx.data genai_config.json mobiusc.json model.safetensors vision.onnx vision.onnx.data")
	m, err := Read(filepath.Join(dir, "decoder.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	if e := m.Graph.Initializers[0].Init.External; e.Location != "model.safetensors" || e.Offset != 1 {
		t.Errorf("a weight in the checkpoint moved to %+v", e)
	}
	if err := inPlace(o, "vision", "decoder"); !errors.Is(err, ErrExists) {
		t.Errorf("again without force: %v, want ErrExists", err)
	}
	o.Force = true
	if err := inPlace(o, "vision"); err != nil {
		t.Fatal(err)
	}
	want("genai_config.json mobiusc.json model.onnx model.onnx.data model.safetensors")
	if err := os.Remove(filepath.Join(dir, ManifestName)); err != nil {
		t.Fatal(err)
	}
	if err := inPlace(o, "vision"); !errors.Is(err, ErrForeignFiles) {
		t.Errorf("over files that no manifest lists: %v, want ErrForeignFiles", err)
	}
	if string(readFile(t, weights)) != "weights" {
		t.Error("the checkpoint was changed")
	}
}
