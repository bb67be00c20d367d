// Mkcheckpoint writes a checkpoint of a layout file's exact names, shapes and
// sizes, with files that are holes: 55 GB take a few pages of disk.
//
//	go run ./internal/checkpointtest/mkcheckpoint -layout FILE -shards 18 DIR
package main

import (
	"flag"
	"fmt"
	"os"

	"mobiusc/internal/checkpointtest"
)

func main() {
	layout := flag.String("layout", "", "layout `file`")
	shards := flag.Int("shards", 1, "number of safetensors files")
	flag.Parse()
	if err := run(*layout, *shards, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "mkcheckpoint:", err)
		os.Exit(1)
	}
}

func run(layout string, shards int, dir string) error {
	if layout == "" || dir == "" {
		return fmt.Errorf("usage: mkcheckpoint -layout FILE [-shards N] DIR")
	}
	tensors, err := checkpointtest.ReadLayout(layout)
	if err != nil {
		return err
	}
	return checkpointtest.WriteDir(dir, tensors, shards)
}
