package validate

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mobiusc/ir"
)

// TestExternalFiles checks what is found about files on disk. The directory
// layout: model/ holds the model, outside/ lies beside it.
func TestExternalFiles(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "model")
	write := func(path string, size int) {
		t.Helper()
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, make([]byte, size), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	link := func(link func(from, to string) error, from, to string) {
		t.Helper()
		if err := link(from, filepath.Join(root, to)); err != nil {
			t.Fatal(err)
		}
	}
	write("model/w.bin", 16)
	write("model/sub/w.bin", 16)
	write("outside/w.bin", 16)
	write("model/linked.bin", 16)
	link(os.Symlink, "w.bin", "model/soft.bin")
	link(os.Symlink, "sub", "model/softdir")
	link(os.Symlink, "../outside/w.bin", "model/escape.bin")
	link(os.Symlink, "../outside", "model/escapedir")
	link(os.Symlink, "nowhere", "model/dangling.bin")
	link(os.Link, filepath.Join(dir, "linked.bin"), "model/linked2.bin")

	for _, c := range []struct {
		location       string
		offset, length int64
		want           []string // codes
	}{
		{"w.bin", 0, 8, nil},
		{"w.bin", 8, 8, nil},
		{"w.bin", 8, 0, nil},
		{"./sub/../w.bin", 0, 8, nil},
		{"sub/w.bin", 0, 8, nil},
		{"w.bin", 9, 8, []string{"MBV806"}},
		{"w.bin", 17, 0, []string{"MBV806"}},
		{"w.bin", 1 << 62, 0, []string{"MBV806"}},
		{"no.bin", 0, 8, []string{"MBV802"}},
		{"w.bin/x", 0, 8, []string{"MBV802"}},
		{"dangling.bin", 0, 8, []string{"MBV802"}},
		{"sub", 0, 8, []string{"MBV803"}},
		{"escape.bin", 0, 8, []string{"MBV804"}},
		{"escapedir/w.bin", 0, 8, []string{"MBV804"}},
		{"soft.bin", 0, 8, []string{"MBV805"}},
		{"softdir/w.bin", 0, 8, []string{"MBV805"}},
		{"linked.bin", 0, 8, []string{"MBV805"}},
		{".", 0, 8, []string{"MBV801"}},
	} {
		m := parse(t, weight)
		external(c.location, c.offset, c.length)(m)
		var got []string
		for _, f := range Model(m, Options{Dir: dir}) {
			got = append(got, f.Code)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s at %d+%d: got %v, want %v", c.location, c.offset, c.length, got, c.want)
		}
	}
}

// TestExternalDirIsALink: the model's own directory may be reached by a link.
func TestExternalDirIsALink(t *testing.T) {
	root := t.TempDir()
	dir, alias := filepath.Join(root, "model"), filepath.Join(root, "alias")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "w.bin"), make([]byte, 8), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, alias); err != nil {
		t.Fatal(err)
	}
	m := parse(t, weight)
	external("w.bin", 0, 8)(m)
	if got := Model(m, Options{Dir: alias}); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// TestFilesAreReadOnce: a file with many tensors is looked at once, and what is
// wrong with it said once.
func TestFilesAreReadOnce(t *testing.T) {
	m := parse(t, weight)
	external("no.bin", 0, 8)(m)
	for _, name := range []string{"w2", "w3"} {
		v := m.Graph.AddInitializer(name, &ir.Tensor{Name: name, Type: ir.Float32, Dims: []int64{2}, External: &ir.External{Location: "no.bin"}})
		v.Type = nil
	}
	if got := Model(m, Options{Dir: t.TempDir()}); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}
