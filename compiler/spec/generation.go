package spec

import (
	"errors"
	"io/fs"

	"mobiusc/compiler/spec/expr"
	"mobiusc/compiler/spec/fault"
	"mobiusc/compiler/spec/tree"
	"mobiusc/internal/diag"
)

// Generation is what a generation_config.json says: how the publisher of a
// checkpoint means text to be generated.
type Generation struct {
	Path          string
	BOS, EOS, PAD []int64 // token ids; none if the file states none
	// Search says how the next token is chosen: bool, int64 and float64 values by
	// their names in the file (do_sample, top_k, …).
	Search map[string]any
}

// generationKeys are the keys that are read, with their types. Limits of the
// length are not among them: they are for the program that generates to choose.
var generationKeys = map[string]string{
	"bos_token_id": "token", "eos_token_id": "token", "pad_token_id": "token",
	"do_sample": "bool", "temperature": "float", "top_k": "int", "top_p": "float", "repetition_penalty": "float",
	"no_repeat_ngram_size": "int", "num_beams": "int", "length_penalty": "float",
}

// Generation reads the generation_config.json beside the config; nil if there is
// none.
func (c *Config) Generation() (*Generation, diag.List) {
	path := beside(c.Path, "generation_config.json")
	text, err := ReadSource(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diag.List{*fault.Unreadable(diag.Range{File: path}, path, err)}
	}
	return parseGeneration(path, text)
}

func parseGeneration(path string, text []byte) (*Generation, diag.List) {
	root, found := tree.ParseJSON(path, text)
	if root != nil && root.Kind != tree.Map {
		found.Add(*fault.WrongType(root.Range, "an object", root.Describe()))
	}
	if found.HasErrors() {
		return nil, found
	}
	r := &reading{found: found}
	g := &Generation{Path: path, Search: map[string]any{}}
	tokens := map[string]*[]int64{"bos_token_id": &g.BOS, "eos_token_id": &g.EOS, "pad_token_id": &g.PAD}
	for _, e := range root.Entries {
		name := e.Key.Text
		word, known := generationKeys[name]
		if !known || e.Value.Kind == tree.Null {
			continue
		}
		v, ok := r.convert(e.Value, configType{word: word}, name)
		switch {
		case !ok:
		case word == "token":
			for _, id := range v.([]expr.Value) {
				*tokens[name] = append(*tokens[name], id.(int64))
			}
		default:
			g.Search[name] = v
		}
	}
	if r.found.HasErrors() {
		return nil, r.found
	}
	return g, r.found
}
