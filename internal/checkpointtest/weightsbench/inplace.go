//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"mobiusc/compiler/emit"
	"mobiusc/internal/checkpointtest"
)

// inPlace compiles a checkpoint of holes in place.
func (b *bench) inPlace() error {
	tensors, err := checkpointtest.ReadLayout(b.layout)
	if err != nil {
		return err
	}
	dir := filepath.Join(b.dir, "checkpoint")
	if err := checkpointtest.WriteDir(dir, tensors, b.shards); err != nil {
		return err
	}
	config, err := os.ReadFile(b.config)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.json"), config, 0o644)
	}
	if err != nil {
		return err
	}
	var total int64
	for _, t := range tensors {
		total += t.Size()
	}
	fmt.Printf("a checkpoint of %d shards, %d tensors, %d bytes\n", b.shards, len(tensors), total)
	for round := range b.rounds {
		c, err := timed(filepath.Join(b.dir, "nothing"), []string{b.command, "compile", b.spec, "--weights", dir, "--in-place", "--force"})
		if err != nil {
			return err
		}
		fmt.Printf("round %d: %.2f s, peak %d MB\n", round+1, c.wall.Seconds(), c.peak/1e6)
	}
	m, err := emit.ReadManifest(dir)
	if err != nil {
		return err
	}
	for _, c := range m.Components {
		var count, bytes, own int64
		for _, t := range c.Tensors {
			switch {
			case t.Constant:
			case t.Location == c.Model+".data":
				own += t.Length
			default:
				count, bytes = count+1, bytes+t.Length
			}
		}
		fmt.Printf("%s: %d weights, %d bytes in the shards, %d bytes copied\n", c.Name, count, bytes, own)
	}
	return nil
}
