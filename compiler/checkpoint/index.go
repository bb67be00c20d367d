package checkpoint

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mobiusc/internal/diag"
)

// index is a parsed model.safetensors.index.json:
//
//	{"metadata": {"total_size": 123}, "weight_map": {"tensor": "model-00001-of-00002.safetensors", …}}
type index struct {
	path      string // of the index file
	text      []byte // of the file
	weightMap map[string]place
	totalSize int64 // metadata.total_size; -1 if it is not there
}

// place is where the index puts a tensor.
type place struct {
	file string // "" if the index names none that can be used
	end  int    // byte offset in the index of the end of the tensor's key
}

// files returns the shards that the index names, sorted.
func (ix *index) files() []string {
	set := map[string]bool{}
	for _, p := range ix.weightMap {
		set[p.file] = true
	}
	delete(set, "")
	return slices.Sorted(maps.Keys(set))
}

// readIndex reads and checks an index alone; nil if there is no sense in going
// on with the shards.
func (o *opener) readIndex(dir, name string) *index {
	path := filepath.Join(dir, name)
	file, size, fault := o.openRegular(path, name)
	if fault != nil {
		o.faults.Add(*fault)
		return nil
	}
	defer file.Close() //nolint:errcheck // opened for reading
	if size > maxHeader {
		o.faults.Add(badIndex(diag.Range{File: path}, "it has %d bytes; at most %d are allowed", size, maxHeader))
		return nil
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(file, text); err != nil {
		o.faults.Add(unreadable(path, err))
		return nil
	}
	return parseIndex(path, text, o.faults)
}

// parseIndex parses the text of an index. Entries that are unsound are reported
// and bring no shard; the result is nil if it is not an index at all.
func parseIndex(path string, text []byte, faults *diag.List) *index {
	ix := &index{path: path, text: text, totalSize: -1}
	if !utf8.Valid(text) {
		faults.Add(badIndex(diag.Range{File: path}, "it is not UTF-8"))
		return nil
	}
	r := &jsonReader{text: text}
	twice := func(key string) { faults.Add(badIndex(ix.at(key, r.pos), "key %q is there twice", key)) }
	_, err := r.object(func(key string) (err error) {
		switch key {
		case "weight_map":
			ix.weightMap = map[string]place{}
			_, err = r.object(func(tensor string) error { return ix.entry(r, tensor, faults) }, twice)
		case "metadata":
			err = ix.metadata(r)
		default:
			faults.Add(badIndex(ix.at(key, r.pos), "key %q is none of metadata, weight_map", key))
			_, err = r.value()
		}
		return err
	}, twice)
	if err == nil {
		err = r.end()
	}
	switch {
	case err != nil:
		faults.Add(badIndex(ix.at("", r.pos), "it is not the JSON it should be: %v", err))
		return nil
	case ix.weightMap == nil:
		faults.Add(badIndex(diag.Range{File: path}, "it has no weight_map"))
		return nil
	}
	return ix
}

// entry reads one entry of the weight map.
func (ix *index) entry(r *jsonReader, tensor string, faults *diag.List) error {
	end := r.pos
	file, other, ok, err := r.str()
	if err != nil {
		return err
	}
	switch {
	case !ok:
		faults.Add(badIndex(ix.at(tensor, end), "tensor %q: %s is not a file name", tensor, shorten(other)))
	case !safeName(file):
		faults.Add(unsafeShard(ix.at(tensor, end), tensor, file))
		file = ""
	}
	ix.weightMap[tensor] = place{file, end}
	return nil
}

// metadata reads the free-form part, of which only the total matters.
func (ix *index) metadata(r *jsonReader) error {
	v, err := r.value()
	if err != nil {
		return err
	}
	if m, ok := v.(map[string]any); ok {
		if n, ok := m["total_size"].(json.Number); ok {
			if size, err := strconv.ParseInt(string(n), 10, 64); err == nil {
				ix.totalSize = size
			}
		}
	}
	return nil
}

// safeName reports whether a shard's name is a clean relative path that stays
// below the directory on every system.
func safeName(name string) bool {
	return filepath.IsLocal(name) && path.Clean(name) == name && name != "." &&
		!strings.ContainsAny(name, "\\:\x00")
}

// compare checks that the index and the shards' own headers say the same. What
// a shard with faults holds is not known, so nothing is said about it.
func (ix *index) compare(c *Checkpoint, faults *diag.List) {
	sound := map[string]bool{}
	for _, s := range c.shards {
		sound[s.name] = !s.faulty
	}
	held := make(map[string]string, len(c.tensors))
	var total int64
	for _, t := range c.tensors {
		held[t.Name] = t.File
		total += t.Length
		if _, ok := ix.weightMap[t.Name]; !ok {
			faults.Add(notInIndex(filepath.Join(c.dir, t.File), t.Name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ix.weightMap)) {
		p := ix.weightMap[name]
		if got, ok := held[name]; sound[p.file] && got != p.file {
			faults.Add(notInShard(ix.at(name, p.end), name, p.file, got, ok))
		}
	}
	if ix.totalSize >= 0 && ix.totalSize != total && !faults.HasErrors() {
		faults.Add(totalSize(ix.path, ix.totalSize, total))
	}
}

// at returns the place of a key, of which the colon stands before end. Keys with
// escapes are longer in the text than taken here.
func (ix *index) at(key string, end int) diag.Range {
	start, stop := end, end
	if key != "" {
		stop = bytes.LastIndexByte(ix.text[:end], '"') + 1
		start = max(0, stop-len(key)-len(`""`))
	}
	return diag.Range{File: ix.path, Start: position(ix.text[:start]), End: position(ix.text[:stop])}
}

// position returns the line and column that follow the text.
func position(before []byte) diag.Pos {
	line := bytes.LastIndexByte(before, '\n') + 1
	return diag.Pos{Line: bytes.Count(before, []byte("\n")) + 1, Col: utf8.RuneCount(before[line:]) + 1}
}
