package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mobiusc/compiler/checkpoint"
	"mobiusc/internal/checkpointtest"
	"mobiusc/internal/golden"
)

// TestScripts runs the command lines in testdata/*.txtar and compares what they
// print; UPDATE=1 writes what is printed into the scripts. Beside testscript's
// own commands, there are
//
//	mobiusc ARG…             run a command line, which must exit with code 0
//	exit CODE mobiusc ARG…   the same with another code
//	input FILE               what the next command line reads from its standard input
//	edit FILE OLD NEW        replace one piece of text in a file
//	tree DIR                 print the paths of all files in a directory
//	cut FILE SIZE            shorten a file
//	hardlink NEW OLD
//	checkpoint DIR OLD [shards N] [drop TENSOR] [add TENSOR] [reshape TENSOR] [huge TENSOR] [tiny TENSOR]
//	                         write a copy of a checkpoint with changes; huge
//	                         fills a tensor with 1.7e38, tiny with 1e-5
//	flip FILE                change the last byte of a file
//
// A script begins in a directory that holds the repository's specs, the pinned
// config, reduced models with weights, vl (vision and language) and llama, a
// reference of each (reference/vl.safetensors), and foreign.onnx, which the onnx
// Python package wrote and which has functions.
func TestScripts(t *testing.T) {
	here, err := filepath.Abs(".") // runLine moves about
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chdir(here) }) //nolint:errcheck // the next test names what it misses
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join(here, "testdata"),
		UpdateScripts:       golden.Updating(),
		RequireExplicitExec: true,
		Setup:               func(env *testscript.Env) error { return setup(filepath.Join(here, "..", ".."), env.WorkDir) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"mobiusc":    func(ts *testscript.TestScript, _ bool, args []string) { runLine(ts, exitClean, args) },
			"exit":       exitCommand,
			"input":      func(ts *testscript.TestScript, _ bool, a []string) { stdin.Store(ts, ts.ReadFile(a[0])) },
			"edit":       editCommand,
			"tree":       treeCommand,
			"cut":        cutCommand,
			"flip":       flipCommand,
			"hardlink":   func(ts *testscript.TestScript, _ bool, a []string) { ts.Check(os.Link(ts.MkAbs(a[1]), ts.MkAbs(a[0]))) },
			"checkpoint": checkpointCommand,
		},
	})
}

// setup copies what a user would have at hand.
func setup(root, to string) error {
	if err := copyFile(filepath.Join(root, "compiler/emit/testdata/functions.onnx"), filepath.Join(to, "foreign.onnx")); err != nil {
		return err
	}
	for _, pattern := range []string{"specs/*.yaml", "testdata/configs/qwen3_8/*.json"} {
		if err := copyFiles(root, pattern, to); err != nil {
			return err
		}
	}
	for from, name := range map[string]string{"qwen3_5_vl": "vl", "llama": "llama"} {
		for _, file := range []string{"config.json", "model.safetensors"} {
			if err := copyFile(filepath.Join(root, "testdata/reference", from, file), filepath.Join(to, name, file)); err != nil {
				return err
			}
		}
	}
	for from, name := range map[string]string{"qwen3_5_vl/mixed": "vl", "llama/short": "llama"} {
		if err := copyFile(filepath.Join(root, "testdata/reference", from+".safetensors"), filepath.Join(to, "reference", name+".safetensors")); err != nil {
			return err
		}
	}
	return nil
}

func copyFiles(root, pattern, to string) error {
	names, err := fs.Glob(os.DirFS(root), pattern)
	for _, name := range names {
		if e := copyFile(filepath.Join(root, name), filepath.Join(to, name)); e != nil {
			return e
		}
	}
	return err
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o666)
}

// workingDirectory is the process's, which scripts take turns to have.
var workingDirectory sync.Mutex

// stdin holds what the next command line of a script reads: *TestScript → string.
var stdin sync.Map

// runLine runs a command line in the script's directory. What it prints is
// independent of where that is.
func runLine(ts *testscript.TestScript, want int, args []string) {
	workingDirectory.Lock()
	defer workingDirectory.Unlock()
	ts.Check(os.Chdir(ts.MkAbs(".")))
	var stdout, stderr bytes.Buffer
	text, _ := stdin.LoadAndDelete(ts)
	stdin, _ := text.(string)
	got := run(context.Background(), append([]string{"mobiusc"}, args...), streams{strings.NewReader(stdin), &stdout, &stderr})
	place := strings.NewReplacer(ts.Getenv("WORK"), "$WORK")
	fmt.Fprint(ts.Stdout(), place.Replace(stdout.String()))
	fmt.Fprint(ts.Stderr(), place.Replace(stderr.String()))
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func exitCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 || args[1] != "mobiusc" {
		ts.Fatalf("usage: exit CODE mobiusc ARG…")
	}
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	runLine(ts, code, args[2:])
}

func editCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if n := strings.Count(text, args[1]); n != 1 {
		ts.Fatalf("%s holds %q %d times, want once", args[0], args[1], n)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o666))
}

func treeCommand(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(fs.WalkDir(os.DirFS(ts.MkAbs(args[0])), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			_, err = fmt.Fprintln(ts.Stdout(), name)
		}
		return err
	}))
}

func cutCommand(ts *testscript.TestScript, _ bool, args []string) {
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

func flipCommand(ts *testscript.TestScript, _ bool, args []string) {
	data := []byte(ts.ReadFile(args[0]))
	data[len(data)-1] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}

// checkpointCommand writes a changed copy of a checkpoint, with its config.
func checkpointCommand(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 || len(args)%2 != 0 {
		ts.Fatalf("usage: checkpoint DIR OLD [shards N] [drop TENSOR] [add TENSOR] [reshape TENSOR] [huge TENSOR] [tiny TENSOR]")
	}
	to, from := ts.MkAbs(args[0]), ts.MkAbs(args[1])
	tensors := readTensors(ts, filepath.Join(from, "model.safetensors"))
	shards := 1
	for change := range slices.Chunk(args[2:], 2) {
		at := slices.IndexFunc(tensors, func(x checkpointtest.Tensor) bool { return x.Name == change[1] })
		switch change[0] {
		case "shards":
			n, err := strconv.Atoi(change[1])
			ts.Check(err)
			shards = n
			continue
		case "add":
			tensors = append(tensors, checkpointtest.Tensor{Name: change[1], DType: "F32", Shape: []int64{4, 4}})
			continue
		}
		if at < 0 {
			ts.Fatalf("there is no tensor %q", change[1])
		}
		switch change[0] {
		case "drop":
			tensors = slices.Delete(tensors, at, at+1)
		case "reshape":
			tensors[at].Shape = []int64{1, tensors[at].Size() * 8 / tensors[at].DType.Bits()}
		case "huge":
			tensors[at].Data = bytes.Repeat([]byte{0x00, 0x7f}, int(tensors[at].Size()/2)) // bfloat16
		case "tiny":
			tensors[at].Data = bytes.Repeat([]byte{0x28, 0x37}, int(tensors[at].Size()/2)) // bfloat16
		default:
			ts.Fatalf("unknown change %q", change[0])
		}
	}
	ts.Check(checkpointtest.WriteDir(to, tensors, shards))
	ts.Check(copyFile(filepath.Join(from, "config.json"), filepath.Join(to, "config.json")))
}

func readTensors(ts *testscript.TestScript, path string) []checkpointtest.Tensor {
	c, found := checkpoint.Open(path, checkpoint.Options{})
	if found.HasErrors() {
		ts.Fatalf("%s", found)
	}
	defer c.Close()
	file, err := os.ReadFile(path)
	ts.Check(err)
	var out []checkpointtest.Tensor
	for _, x := range c.Tensors() {
		data := file[x.Offset:][:x.Length]
		out = append(out, checkpointtest.Tensor{Name: x.Name, DType: x.DType, Shape: x.Shape, Data: data})
	}
	return out
}
