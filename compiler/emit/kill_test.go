//go:build unix

package emit

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// killStage makes the test binary write a package and kill itself on the way.
const killStage = "EMIT_KILL_STAGE"

func TestMain(m *testing.M) {
	stage := os.Getenv(killStage)
	if stage == "" {
		os.Exit(m.Run())
	}
	hook = func(at string) {
		if at == stage {
			syscall.Kill(os.Getpid(), syscall.SIGKILL) //nolint:errcheck // it does not return
			select {}
		}
	}
	if os.Getenv("EMIT_KILL_TWO_STEPS") != "" {
		exchange = exchangeByRename
	}
	write := (*Package).Write
	if os.Getenv("EMIT_KILL_IN_PLACE") != "" {
		write = (*Package).WriteInPlace
	}
	err := write(testPackage(2, "a", "b"), context.Background(), os.Args[1], WriteOptions{Force: true})
	if err != nil {
		panic(err)
	}
	os.Exit(3) // not killed
}

// TestKill kills the process at every stage of replacing a package. The
// destination must be the old or the new package, complete, and the next run
// must remove what was left.
func TestKill(t *testing.T) {
	reference := t.TempDir()
	write(t, testPackage(1, "a", "b"), filepath.Join(reference, "old"), WriteOptions{})
	write(t, testPackage(2, "a", "b"), filepath.Join(reference, "new"), WriteOptions{})
	older, newer := tree(t, filepath.Join(reference, "old")), tree(t, filepath.Join(reference, "new"))
	for _, c := range []struct {
		stage    string
		twoSteps bool
		complete bool // the new package stands
		missing  bool // nothing stands until the next run
	}{
		{stage: "model"}, {stage: "data"}, {stage: "manifest"}, {stage: "synced"}, {stage: "renamed", complete: true},
		{stage: "aside", twoSteps: true, missing: true}, {stage: "renamed", twoSteps: true, complete: true},
	} {
		name := c.stage
		if c.twoSteps {
			name += " in two steps"
		}
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			out := filepath.Join(parent, "out")
			write(t, testPackage(1, "a", "b"), out, WriteOptions{})
			cmd := exec.Command(os.Args[0], out)
			cmd.Env = append(os.Environ(), killStage+"="+c.stage)
			if c.twoSteps {
				cmd.Env = append(cmd.Env, "EMIT_KILL_TWO_STEPS=1")
			}
			output, err := cmd.CombinedOutput()
			if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
				t.Fatalf("the child was not killed: %v %s", err, output)
			}
			if len(leftovers(t, parent)) == 0 {
				t.Fatal("the killed process left nothing: it was killed at the wrong moment")
			}
			if _, err := os.Stat(out); os.IsNotExist(err) != c.missing {
				t.Fatalf("destination: %v, want missing %v", err, c.missing)
			}
			if c.missing {
				cleanStale(parent, "out")
			}
			want := older
			if c.complete {
				want = newer
			}
			if got := tree(t, out); !sameTree(got, want) {
				t.Fatalf("the destination is neither package:\n%v", got)
			}
			write(t, testPackage(2, "a", "b"), out, WriteOptions{Force: true})
			if left := leftovers(t, parent); len(left) > 0 {
				t.Errorf("the next run left %v", left)
			}
			if !sameTree(tree(t, out), newer) {
				t.Error("the next run did not write the new package")
			}
		})
	}
}

// TestKillInPlace kills the process after it has moved the first file of a package
// into a directory. The next run must not take that file for someone else's, and
// must not touch what is.
func TestKillInPlace(t *testing.T) {
	for _, stage := range []string{"manifest", "synced", "moved"} {
		t.Run(stage, func(t *testing.T) {
			dir := t.TempDir()
			other := filepath.Join(dir, "model.safetensors")
			if err := os.WriteFile(other, []byte("weights"), 0o666); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0], dir)
			cmd.Env = append(os.Environ(), killStage+"="+stage, "EMIT_KILL_IN_PLACE=1")
			if output, err := cmd.CombinedOutput(); err == nil {
				t.Fatalf("the child was not killed: %s", output)
			}
			if _, err := os.Stat(filepath.Join(dir, "a.onnx")); os.IsNotExist(err) != (stage != "moved") {
				t.Fatalf("a.onnx: %v", err)
			}
			if err := testPackage(2, "a", "b").WriteInPlace(t.Context(), dir, WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			if left := leftovers(t, dir); len(left) > 0 {
				t.Errorf("the next run left %v", left)
			}
			if string(readFile(t, other)) != "weights" {
				t.Error("another file was changed")
			}
		})
	}
}

// TestStaleStages checks that only leftovers of the same destination are taken
// for such, and not while a process uses them.
func TestStaleStages(t *testing.T) {
	parent := t.TempDir()
	for _, name := range []string{".mobiusc-out-0123abcd", ".mobiusc-out-backup", ".mobiusc-out2-0123abcd", ".mobiusc-other"} {
		if err := os.Mkdir(filepath.Join(parent, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	used, err := newStage(parent, "out")
	if err != nil {
		t.Fatal(err)
	}
	cleanStale(parent, "out")
	if _, err := os.Stat(used.path); err != nil {
		t.Errorf("a stage in use was removed: %v", err)
	}
	used.discard()
	if got := len(leftovers(t, parent)); got != 3 {
		t.Errorf("%v remain, want all but .mobiusc-out-0123abcd", leftovers(t, parent))
	}
}
