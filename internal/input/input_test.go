package input

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	const limit = 4 << 20
	for _, size := range []int{0, 1, 511, 512, 513, limit} {
		want := bytes.Repeat([]byte("a"), size)
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFile(path, limit); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: read %d, %v", size, len(got), err)
		}
	}
	if err := os.Truncate(path, limit+1); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path, limit); err == nil || !strings.Contains(err.Error(), "it has more than 4 MiB") {
		t.Errorf("a byte too many: %v", err)
	}
	if _, err := ReadFile(t.TempDir(), limit); err == nil {
		t.Error("a directory was read")
	}
	if _, err := ReadFile(path+"x", limit); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// endless is a stream without an end, like /dev/zero.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestReadAll(t *testing.T) {
	if _, err := ReadAll(endless{}, "zero", 1<<20); err == nil || !strings.Contains(err.Error(), "zero") {
		t.Errorf("an endless stream: %v", err)
	}
	want := strings.Repeat("text", 1000)
	if got, err := ReadAll(iotest.OneByteReader(strings.NewReader(want)), "s", 1<<20); err != nil || string(got) != want {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
}
