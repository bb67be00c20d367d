// Package checkpointtest writes safetensors checkpoints for tests and
// benchmarks: small ones with given bytes, and ones of a published model's exact
// layout whose files are holes, so that 55 GB take a few pages of disk.
package checkpointtest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mobiusc/compiler/checkpoint"
)

// Tensor is one tensor to write.
type Tensor struct {
	Name  string
	DType checkpoint.DType
	Shape []int64
	Data  []byte // nil: zeros, written as a hole
}

// Size returns the number of bytes the tensor takes.
func (t Tensor) Size() int64 {
	n := t.DType.Bits()
	for _, d := range t.Shape {
		n *= d
	}
	return n / 8
}

// Header returns the beginning of a safetensors file that holds the tensors in
// the given order: the length, and the JSON padded to 8 bytes.
func Header(tensors []Tensor) []byte {
	var b strings.Builder
	b.WriteString(`{"__metadata__":{"format":"pt"}`)
	var offset int64
	for _, t := range tensors {
		name, shape := must(json.Marshal(t.Name)), must(json.Marshal(append([]int64{}, t.Shape...)))
		fmt.Fprintf(&b, `,%s:{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}`, name, t.DType, shape, offset, offset+t.Size())
		offset += t.Size()
	}
	b.WriteString("}")
	for b.Len()%8 != 0 {
		b.WriteString(" ")
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(b.Len())), b.String()...)
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return b
}

// WriteFile writes one safetensors file.
func WriteFile(path string, tensors []Tensor) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	header := Header(tensors)
	if _, err := f.Write(header); err != nil {
		return err
	}
	at := int64(len(header))
	for _, t := range tensors {
		if t.Data != nil {
			if _, err := f.WriteAt(t.Data, at); err != nil {
				return err
			}
		}
		at += t.Size()
	}
	return f.Truncate(at)
}

// WriteDir writes a checkpoint directory. With one shard it is
// model.safetensors, else the tensors are spread in the given order over so
// many shards of about equal size, with an index.
func WriteDir(dir string, tensors []Tensor, shards int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if shards <= 1 {
		return WriteFile(filepath.Join(dir, "model.safetensors"), tensors)
	}
	parts, total := split(tensors, shards)
	weightMap := map[string]string{}
	for i, part := range parts {
		name := fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, len(parts))
		if err := WriteFile(filepath.Join(dir, name), part); err != nil {
			return err
		}
		for _, t := range part {
			weightMap[t.Name] = name
		}
	}
	index, err := json.MarshalIndent(map[string]any{
		"metadata": map[string]any{"total_size": total}, "weight_map": weightMap}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), index, 0o644)
}

// split cuts the list where its running size passes each n-th of the total.
func split(tensors []Tensor, n int) (parts [][]Tensor, total int64) {
	for _, t := range tensors {
		total += t.Size()
	}
	var sum int64
	begin := 0
	for i, t := range tensors {
		sum += t.Size()
		if sum >= total*int64(len(parts)+1)/int64(n) || i == len(tensors)-1 {
			parts, begin = append(parts, tensors[begin:i+1]), i+1
		}
	}
	return parts, total
}
