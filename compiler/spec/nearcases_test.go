package spec

import (
	"strings"
	"testing"

	"mobiusc/internal/diag"
)

// Names that a spec states and nothing uses, near to those that it inherits.
func init() {
	faultCases = append(faultCases, []faultCase{
		{
			name: "misspelt block of the parent", spec: child + "blocks: {«final_nrom»: {rms_norm: model.norm}}\n",
			want: "MB0213 unused-block: the block `final_nrom` is used by nothing; did you mean `final_norm`?",
		},
		{
			name: "abbreviated block of the parent", spec: child + "blocks: {«self_attn»: []}\n",
			want: "MB0213 unused-block: the block `self_attn` is used by nothing; did you mean `self_attention`?",
		},
		{
			name: "block near to one that the spec itself states", spec: child + "blocks: {final_norm: [tail], tail: [], «tails»: []}\n",
			want: "MB0213 unused-block: the block `tails` is used by nothing",
		},
		{
			name: "misspelt let of the parent", spec: vlChild + "let: {«merge_width»: 3}\n",
			want: "MB0213 unused-block: the named expression `merge_width` is used by nothing; did you mean `merged_width`?",
		},
		{
			name: "misspelt key of the parent with a type", spec: child + "config: {«hidden_sise»: int}\n",
			want: "MB0402 unused-config-key: config key `hidden_sise` is declared, and nothing uses it; did you mean `hidden_size`?",
		},
		{
			name: "misspelt key of the parent", spec: child + "config: {«hiden_act»: {default: gelu}}\n",
			want: "MB0205 missing-key: config key hiden_act needs `type`; did you mean `hidden_act`?",
		},
		{
			name: "misspelt key of a section of the parent", spec: vlChild + "config: {vision: {keys: {«num_head»: int}}}\n",
			want: "MB0402 unused-config-key: config key `vision.num_head` is declared, and nothing uses it; did you mean `num_heads`?",
		},
		{
			name: "abbreviated option", spec: child + "defaults: {rms_norm: {«eps»: 1.0e-6}}\n",
			want: "MB0201 unknown-key: block rms_norm has no key `eps`; did you mean `epsilon`?",
		},
		{
			name: "unread key that shares a common word", config: conf(`"vocab_size"`, `«"attention_softcap"»: 30, "vocab_size"`),
			want: "MB0401 unread-config-key: the spec neither reads attention_softcap nor ignores it with a reason",
		},
	}...)
}

// TestBesideErrors has specs with several faults, one of them a name that the
// others must not hide, and faults in a parent that the child has made.
func TestBesideErrors(t *testing.T) {
	const kinds = "blocks: {decoder_layers: {layers: {kinds: {full_attention: "
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"a misspelt block and a deleted default", child + "blocks: {final_nrom: {rms_norm: model.norm}}\ndefaults: {rms_norm: null}\n", []string{
			"llama.yaml:46:19 block rms_norm needs `epsilon`: added to the mean of the squares; x.yaml:6:12 deleted here",
			"llama.yaml:47:19 block rms_norm needs `epsilon`: added to the mean of the squares; x.yaml:6:12 deleted here",
			"llama.yaml:51:5 block rms_norm needs `epsilon`: added to the mean of the squares; x.yaml:6:12 deleted here",
			"x.yaml:5:10 the block `final_nrom` is used by nothing; did you mean `final_norm`?",
		}},
		{"an unused block that is near to nothing", child + "blocks: {extra: []}\ndefaults: {rms_norm: {epsilon: null}}\n", []string{
			"llama.yaml:46:19 block rms_norm needs `epsilon`: added to the mean of the squares; x.yaml:6:23 deleted here",
			"llama.yaml:47:19 block rms_norm needs `epsilon`: added to the mean of the squares; x.yaml:6:23 deleted here",
			"llama.yaml:51:5 block rms_norm needs `epsilon`: added to the mean of the squares; x.yaml:6:23 deleted here",
		}},
		{"a near name that is mentioned", child + "blocks: {final_norms: [], head: [final_norms, {linear: {name: a, out: nothing}}]}\n", []string{
			"x.yaml:5:71 `nothing` is neither a config key nor a named expression",
		}},
		{"a misspelt key", child + "config: {hidden_sise: int}\nblocks: {head: [{linear: {name: a, out: nothing}}]}\n", []string{
			"x.yaml:5:10 config key `hidden_sise` is declared, and nothing uses it; did you mean `hidden_size`?",
			"x.yaml:6:41 `nothing` is neither a config key nor a named expression",
		}},
		{"a misspelt named expression", vlChild + "let: {merge_width: 3}\nblocks: {head: [{linear: {name: a, out: nothing}}]}\n", []string{
			"x.yaml:5:7 the named expression `merge_width` is used by nothing; did you mean `merged_width`?",
			"x.yaml:6:41 `nothing` is neither a config key nor a named expression",
		}},
		{"a deleted option", child + "blocks: {decoder_layers: {layers: {count: null}}}\n", []string{
			"llama.yaml:49:5 block layers needs `count`; x.yaml:5:36 deleted here",
		}},
		{"a deleted part of an option", child + "blocks: {self_attention: {attention: {heads: null}}}\n", []string{
			"llama.yaml:35:5 block attention needs `heads`: query heads; x.yaml:5:39 deleted here",
		}},
		{"a deleted input", child + "components: {model: {inputs: {input_ids: null}}}\n", []string{
			"llama.yaml:33:47 component model has no value `input_ids`; x.yaml:5:31 deleted here",
		}},
		{"a deleted body", child + "components: {model: {body: null}}\n", []string{
			"llama.yaml:57:3 component model needs `body`; x.yaml:5:22 deleted here",
		}},
		{"a deleted type", child + "config: {hidden_size: {type: null}}\n", []string{
			"llama.yaml:10:3 config key hidden_size needs `type`; x.yaml:5:24 deleted here",
		}},
		{"a deleted key of a section", vlChild + "config: {vision: {keys: {depth: null}}}\n", []string{
			"qwen3_vl.yaml:41:141 section vision has no `depth`; x.yaml:5:26 deleted here",
			"qwen3_vl.yaml:113:46 section vision has no `depth`; x.yaml:5:26 deleted here",
		}},
		{"a deleted option in a kind", vlChild + kinds + "{blocks: {self_attention: {attention: {heads: null}}}}}}}}\n", []string{
			"llama.yaml:35:5 block attention needs `heads`: query heads; x.yaml:5:99 deleted here",
		}},
		{"a deleted block in a kind", vlChild + kinds + "{blocks: {self_attention: null}}}}}}\n", []string{
			"qwen3_5.yaml:50:10 section blocks has no `self_attention`; did you mean `attention`?; x.yaml:5:70 deleted here",
		}},
		{"a deleted named expression in a kind", vlChild + "let: {size: 8, twice: size * 2}\nblocks: {self_attention: {attention: {window: twice}}, decoder_layers: {layers: {kinds: {full_attention: {let: {size: null}}}}}}\n", []string{
			"x.yaml:5:23 `size` is neither a config key nor a named expression; x.yaml:6:113 deleted here",
		}},
		{"what the child leaves out", vlChild + "blocks: {vision_layer: []}\n", []string{
			"qwen3_vl.yaml:117:35 component vision_encoder has no value `deepstack_features`; x.yaml:3:10 inherited here",
		}},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			_, found := Load("x.yaml", inMemory(map[string]string{"x.yaml": c.text}))
			if got := places(found); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestDeletedSection deletes all keys of a section at once, which many lines miss.
func TestDeletedSection(t *testing.T) {
	_, found := Load("x.yaml", inMemory(map[string]string{"x.yaml": vlChild + "config: {vision: {keys: null}}\n"}))
	if len(found) < 10 {
		t.Errorf("%d findings", len(found))
	}
	for _, text := range places(found) {
		if !strings.HasSuffix(text, "; x.yaml:5:19 deleted here") {
			t.Error(text)
		}
	}
}

// places returns each finding with its place and its notes on one line.
func places(found diag.List) (all []string) {
	for _, d := range found {
		text := strings.TrimPrefix(d.Range.String(), carried) + " " + d.Message
		if strings.HasPrefix(d.Hint, "did you mean") {
			text += "; " + d.Hint
		}
		for _, n := range d.Notes {
			text += "; " + strings.TrimPrefix(n.Range.String(), carried) + " " + n.Message
		}
		all = append(all, text)
	}
	return all
}
