package checkpointtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"mobiusc/compiler/checkpoint"
)

// ReadLayout reads a layout file: one tensor a line, as
//
//	model.layers.{0..63}.mlp.{gate,up}_proj.weight BF16 17408 5120
//
// name, dtype, dims. Braces hold alternatives, separated by commas: words, or
// ranges with an optional step as in {0..63..4}; every combination is a tensor,
// the last brace varying fastest. Blank lines and lines that begin with # are skipped.
func ReadLayout(path string) ([]Tensor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	return parseLayout(f)
}

func parseLayout(r io.Reader) ([]Tensor, error) {
	var tensors []Tensor
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 2 || !checkpoint.DType(fields[1]).Valid() {
			return nil, fmt.Errorf("line %d: want name, dtype, dims", n)
		}
		t := Tensor{DType: checkpoint.DType(fields[1]), Shape: []int64{}}
		for _, f := range fields[2:] {
			d, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			t.Shape = append(t.Shape, d)
		}
		names, err := expand(fields[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		for _, t.Name = range names {
			tensors = append(tensors, t)
		}
	}
	return tensors, lines.Err()
}

// expand writes out the braces of a pattern.
func expand(pattern string) ([]string, error) {
	before, rest, found := strings.Cut(pattern, "{")
	if !found {
		return []string{pattern}, nil
	}
	inside, after, closed := strings.Cut(rest, "}")
	if !closed {
		return nil, fmt.Errorf("%s: brace without end", pattern)
	}
	tails, err := expand(after)
	if err != nil {
		return nil, err
	}
	words, err := alternatives(inside)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, w := range words {
		for _, t := range tails {
			names = append(names, before+w+t)
		}
	}
	return names, nil
}

// alternatives expands what stands between braces: words and ranges, separated
// by commas.
func alternatives(list string) (words []string, err error) {
	for _, word := range strings.Split(list, ",") {
		if !strings.Contains(word, "..") {
			words = append(words, word)
			continue
		}
		var first, last int
		step := 1
		if _, err := fmt.Sscanf(word+"..1", "%d..%d..%d", &first, &last, &step); err != nil || step < 1 {
			return nil, fmt.Errorf("%q is not a range", word)
		}
		for i := first; i <= last; i += step {
			words = append(words, strconv.Itoa(i))
		}
	}
	return words, nil
}
