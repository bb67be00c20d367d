//go:build linux

package emit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFullDisk checks that nothing is begun where the disk is too small.
func TestFullDisk(t *testing.T) {
	if n, ok := freeBytes(t.TempDir()); !ok || n <= 0 {
		t.Fatalf("%d bytes are free, known %v", n, ok)
	}
	free := freeBytes
	defer func() { freeBytes = free }()
	parent := ""
	for _, write := range []func() error{
		func() error {
			return testPackage(1, "a").Write(context.Background(), filepath.Join(parent, "out"), WriteOptions{})
		},
		func() error { return testPackage(1, "a").WriteInPlace(context.Background(), parent, WriteOptions{}) },
	} {
		parent = t.TempDir()
		freeBytes = func(string) (int64, bool) { return 9215, true }
		err := write()
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "needs 9216 bytes in "+parent+", and 9215 are free") {
			t.Errorf("error %v", err)
		}
		if entries, _ := os.ReadDir(parent); len(entries) > 0 {
			t.Fatalf("%v were left", entries)
		}
		freeBytes = func(string) (int64, bool) { return 9216, true }
		if err := write(); err != nil {
			t.Error(err)
		}
	}
}

// TestMountPoint checks that a mount point is refused before the work begins.
func TestMountPoint(t *testing.T) {
	p := testPackage(1, "a")
	p.Components[0].Fill = func(context.Context, string) error { t.Error("the work began"); return nil }
	err := p.Write(context.Background(), "/proc", WriteOptions{Force: true})
	if err == nil || !strings.Contains(err.Error(), "/proc is a mount point") {
		t.Errorf("error %v", err)
	}
}
