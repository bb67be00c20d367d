package verify

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mobiusc/internal/ort"
	"mobiusc/ir"
)

// TestReadReference checks what is said of files that are no references.
func TestReadReference(t *testing.T) {
	for _, c := range []struct {
		name    string
		tensors tensors
		want    []string // the ends of the lines
	}{
		{"a checkpoint", tensors{"model.norm.weight": f32([]int64{1}, 1), "lm_head.weight": f32([]int64{1}, 1)}, []string{
			"tensor lm_head.weight: the name does not begin with step0, step1, …; want step{n}.{component}.{in|out|f16}.{value}",
			"tensor model.norm.weight: the name does not begin with step0, step1, …; want step{n}.{component}.{in|out|f16}.{value}"}},
		{"another part", tensors{"step0.model.input.ids": f32([]int64{1}, 1)}, []string{
			`tensor step0.model.input.ids: "input" is neither in, out nor f16; want step{n}.{component}.{in|out|f16}.{value}`}},
		{"no value", tensors{"step0.model.in": f32([]int64{1}, 1), "step0..in.x": f32([]int64{1}, 1), "step0.gredy": f32([]int64{1}, 1)}, []string{
			"tensor step0..in.x: want step{n}.{component}.{in|out|f16}.{value}",
			"tensor step0.gredy: want step{n}.{component}.{in|out|f16}.{value}",
			"tensor step0.model.in: want step{n}.{component}.{in|out|f16}.{value}"}},
		{"another way to write a number", tensors{"step01.model.in.x": f32([]int64{1}, 1)}, []string{
			"tensor step01.model.in.x: the name does not begin with step0, step1, …; want step{n}.{component}.{in|out|f16}.{value}"}},
		{"too many steps", tensors{"step999999999.model.in.x": f32([]int64{1}, 1)}, []string{
			"tensor step999999999.model.in.x: a reference has fewer than 10000 steps"}},
		{"a gap", tensors{"step0.model.in.x": f32([]int64{1}, 1), "step2.model.in.x": f32([]int64{1}, 1)}, []string{
			"it has step 2 and no call in step 1"}},
		{"a greedy choice of no call", tensors{"step0.model.in.x": f32([]int64{1}, 1), "step1.greedy": i64([]int64{1}, 1)}, []string{
			"it has step 1 and no call in step 1"}},
		{"a dtype of no use", tensors{"step0.model.in.x": {Type: ir.Uint16, Dims: []int64{1}, Raw: []byte{1, 2}}}, []string{
			"tensor step0.model.in.x has dtype U16, which reference files do not use"}},
		{"nothing", tensors{}, []string{
			"it holds no tensor; a reference has tensors named step{n}.{component}.{in|out|f16}.{value}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := c.tensors.write(t)
			_, err := ReadReference(path)
			if err == nil {
				t.Fatal("no error")
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(c.want) {
				t.Fatalf("got:\n%v\nwant:\n%s", err, strings.Join(c.want, "\n"))
			}
			for i, line := range lines {
				if line != path+": "+c.want[i] {
					t.Errorf("got:  %s\nwant: %s: %s", line, path, c.want[i])
				}
			}
		})
	}
	for name, content := range map[string]string{"missing": "", "short": "{}", "text": "this is not a safetensors file at all"} {
		path := filepath.Join(t.TempDir(), name+".safetensors")
		if content != "" {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := ReadReference(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzReadReference reads any file: what is read without an error can be
// checked against a package.
func FuzzReadReference(f *testing.F) {
	for _, header := range []string{
		`{"step0.m.in.x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`,
		`{"step0.m.out.y":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"step0.greedy":{"dtype":"I64","shape":[0],"data_offsets":[4,4]}}`,
		`{"step1.m.f16.y.0":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]},"__metadata__":{"case":"x"}}`,
	} {
		f.Add(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header+"\x00\x00\x80\x3f"...))
	}
	p := &Package{components: []*component{{session: &ort.Session{}}}}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.safetensors")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := ReadReference(path)
		if err != nil {
			return
		}
		if err := p.Check(r); err == nil {
			t.Error("a package without components has all that the reference names")
		}
	})
}
