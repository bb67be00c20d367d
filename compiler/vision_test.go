package compiler_test

import (
	"context"
	"path/filepath"
	"testing"

	"mobiusc/compiler"
	"mobiusc/compiler/emit"
	"mobiusc/ir"
)

// TestVisionIsLinear checks, for every value of the full-size vision encoder,
// subgraphs included, that twice the patches make it at most twice as large:
// whether they are one frame, whose rows all attend to each other, or twice as
// many frames of the same size. No value is patches by patches.
func TestVisionIsLinear(t *testing.T) {
	o := compiler.Options{Spec: filepath.Join("..", "specs", "qwen3_8.yaml"), Out: filepath.Join(t.TempDir(), "package")}
	found, err := compiler.Compile(context.Background(), o)
	if err != nil || found.HasErrors() {
		t.Fatal(err, found)
	}
	m, err := emit.Read(filepath.Join(o.Out, "vision_encoder", "model.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	const patches, frame = 19200, 1200
	growth := []struct{ few, many map[string]int64 }{
		{visionSizes(m, patches, patches), visionSizes(m, 2*patches, 2*patches)}, // one frame
		{visionSizes(m, patches, frame), visionSizes(m, 2*patches, frame)},       // more frames
	}
	checked := 0
	for node := range m.Graph.AllNodes() {
		for _, v := range node.Outputs() {
			if v == nil || v.Type == nil || v.Type.Kind != ir.TensorKind || v.Type.Shape == nil {
				continue
			}
			shape := v.Type.Shape
			if uses := v.Uses(); node.OpType == "ConcatFromSequence" && len(uses) == 1 && uses[0].Node.OpType == "Reshape" {
				shape = uses[0].Node.Output(0).Type.Shape // what a sequence holds is known once it is reshaped
			}
			for _, sizes := range growth {
				few, ok1 := elements(shape, sizes.few)
				many, ok2 := elements(shape, sizes.many)
				switch {
				case !ok1 || !ok2:
					t.Errorf("the size of %s, %s, is not known", v.Name, v.Type)
				case many > 2*few:
					t.Errorf("%s, %s, has %d elements at %d patches and %d at twice as many", v.Name, v.Type, few, patches, many)
				}
				checked++
			}
		}
	}
	if checked < 1000 {
		t.Errorf("only %d sizes were checked", checked)
	}
}

// visionSizes gives every symbol of the encoder's dims a size for so many patches
// in frames of frame patches: symbols that only a run can tell are the rows of a
// frame or their number.
func visionSizes(m *ir.Model, patches, frame int64) map[string]int64 {
	sizes := map[string]int64{"patches": patches, "images": patches / frame}
	for node := range m.Graph.AllNodes() {
		for _, v := range node.Outputs() {
			if v == nil || v.Type == nil {
				continue
			}
			for _, d := range v.Type.Shape {
				for _, s := range d.Symbols() {
					if _, ok := sizes[s]; !ok {
						sizes[s] = frame
					}
				}
			}
		}
	}
	return sizes
}

func elements(shape ir.Shape, sizes map[string]int64) (count int64, ok bool) {
	count = 1
	for _, d := range shape {
		n, ok := d.Eval(sizes)
		if !ok {
			return 0, false
		}
		count *= n
	}
	return count, true
}
