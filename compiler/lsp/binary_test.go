package lsp

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestBinary speaks to the program as an editor starts it.
func TestBinary(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	program := filepath.Join(t.TempDir(), "mobiusc")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "mobiusc/cmd/mobiusc").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	spawn := func(t *testing.T, args ...string) (*client, *exec.Cmd) {
		cmd := exec.Command(program, append([]string{"lsp"}, args...)...)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		c := newClient(t, in, out)
		t.Cleanup(func() { in.Close() })
		return c, cmd
	}
	wait := func(t *testing.T, c *client, cmd *exec.Cmd, want int) {
		c.until("the end of its output", func() bool { return c.gone })
		cmd.Wait() //nolint:errcheck // the code says it
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("exit code %d, want %d", code, want)
		}
	}

	t.Run("a conversation", func(t *testing.T) {
		c, cmd := spawn(t, "--stdio")
		c.initialize()
		uri := c.open("x.yaml", child+"taks: a\n")
		c.expect(uri, 1, "4:0-4:4 unknown-key")
		c.edit(uri, 2, span{position{4, 0}, position{4, 4}}, "task")
		c.expect(uri, 2)
		c.call("shutdown", nil, nil)
		c.notify("exit", nil)
		wait(t, c, cmd, 0)
	})
	t.Run("an editor that is killed", func(t *testing.T) {
		c, cmd := spawn(t)
		c.initialize()
		c.in.Close()
		wait(t, c, cmd, 1)
	})
}
