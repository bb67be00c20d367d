//go:build unix

// Weightsbench measures what a package's weights cost: the command itself, as a
// process, against cp.
//
//	go run ./internal/checkpointtest/weightsbench -dir DIR copy
//	go run ./internal/checkpointtest/weightsbench -dir DIR -layout FILE -shards 18 -spec SPEC -config FILE inplace
//
// "copy" writes a checkpoint of random bfloat16 values, which stays in the page
// cache, and compiles it with the weights as they are stored, and converted to
// float16. Every run is a new process, begins with nothing left to write back
// from before, and ends when all bytes are on the disk, as the command promises
// (cp does not, so its files are synced). Runs of cp stand between the others: a
// rate is compared with the mean of its two neighbours, and cp's own variation is
// printed, as is the part of the processors that other processes had meanwhile.
//
// "inplace" writes a checkpoint of a published model's layout, whose files are
// holes, and compiles it in place.
//
// Both print wall time and peak memory. DIR is made, and removed at the end.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	b := bench{}
	flag.StringVar(&b.dir, "dir", "", "`directory` to work in, made and removed")
	flag.StringVar(&b.layout, "layout", "", "inplace: layout `file`")
	flag.StringVar(&b.spec, "spec", "", "inplace: `spec` of the layout")
	flag.StringVar(&b.config, "config", "", "inplace: config.json `file`")
	flag.IntVar(&b.shards, "shards", 1, "inplace: number of safetensors files")
	flag.IntVar(&b.gib, "gib", 4, "copy: size of the checkpoint in GiB; one of 1 GiB is measured too")
	flag.IntVar(&b.rounds, "rounds", 3, "number of rounds")
	flag.Parse()
	var err error
	switch what := flag.Arg(0); {
	case b.dir == "":
		err = fmt.Errorf("-dir is required")
	case what == "source": // see writeInChild
		err = b.writeSource()
	case what == "copy":
		err = b.run(b.copy)
	case what == "inplace" && b.layout != "" && b.spec != "" && b.config != "":
		err = b.run(b.inPlace)
	default:
		err = fmt.Errorf("say what to measure: copy, or inplace with -layout, -spec and -config")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "weightsbench:", err)
		os.Exit(1)
	}
}

// bench is one run of the program.
type bench struct {
	dir, layout, spec, config string
	shards, gib, rounds       int
	command                   string // path of mobiusc
}

// run builds the command and measures.
func (b *bench) run(measure func() error) error {
	if err := os.Mkdir(b.dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir) //nolint:errcheck // what is left is seen
	b.command = filepath.Join(b.dir, "mobiusc")
	build := exec.Command("go", "build", "-o", b.command, "mobiusc/cmd/mobiusc")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building mobiusc: %w", err)
	}
	return measure()
}
