package spec

// Values that a spec states for config keys.
func init() {
	faultCases = append(faultCases, []faultCase{
		{
			name: "default that is no activation", spec: child + "config: {hidden_act: {default: «swiglu»}}\n",
			want: "MB0404 bad-config-value: the default of hidden_act must be an activation, one of gelu, gelu_tanh, relu, sigmoid, silu, tanh, not \"swiglu\"; did you mean `silu`?",
		},
		{
			name: "default near an activation", spec: child + "config: {hidden_act: {default: «relu2»}}\n",
			want: "MB0404 bad-config-value: the default of hidden_act must be an activation, one of gelu, gelu_tanh, relu, sigmoid, silu, tanh, not \"relu2\"; did you mean `relu`?",
		},
		{
			name: "default that is no dtype", spec: child + "config: {dtype: {default: «fp16»}}\n",
			want: `MB0404 bad-config-value: the default of dtype must be a dtype, one of float32, float16, bfloat16, float64, int64, int32, int8, uint8, bool, auto, not "fp16"`,
		},
		{
			name: "default that is no word", spec: child + "config: {hidden_act: {default: «3»}}\n",
			want: `MB0404 bad-config-value: the default of hidden_act must be an activation, one of gelu, gelu_tanh, relu, sigmoid, silu, tanh, not 3`,
		},
		{
			name: "default of an optional word", spec: edit("  width: int\n", "  width: int\n  act: {type: optional activation, default: «swish2», values: [silu, gelu_new]}\n"),
			want: "MB0404 bad-config-value: the default of act must be an activation, one of gelu, gelu_tanh, relu, sigmoid, silu, tanh, not \"swish2\"; did you mean `swish`?",
		},
		{
			name: "default that is not covered", spec: child + "config: {rope_interleaved: {default: «true»}}\n",
			want: `MB0405 unsupported-config-value: the default of rope_interleaved is true, and the spec covers false; state a default that it covers, or delete the default with null`,
		},
		{
			name: "default word that is not covered", spec: edit("  width: int\n", "  width: int\n  kind_of: {type: string, default: «rotary», values: [absolute]}\n"),
			want: `MB0405 unsupported-config-value: the default of kind_of is "rotary", and the spec covers absolute; state a default that it covers, or delete the default with null`,
		},
		{
			name: "values that leave out the parent's default", spec: child + "config: {rope_interleaved: {values: «[true]»}}\n",
			want: `MB0405 unsupported-config-value: the default of rope_interleaved is false, and the spec covers true; state a default that it covers, or delete the default with null`,
		},
		{
			name: "computed default that is not covered", spec: edit("default: 4}", "default: «width // 2», values: [2, 8]}"), config: baseConfig,
			want: `MB0405 unsupported-config-value: the default of heads is 4, and the spec covers 2, 8`,
		},
		{
			name: "value of another type", spec: edit("default: 4}", "default: 4, values: [4, «many»]}"),
			want: `MB0404 bad-config-value: a value of heads must be a whole number, not "many"`,
		},
		{
			name: "value that is no activation", spec: child + "config: {hidden_act: {values: [silu, «glu»]}}\n",
			want: "MB0404 bad-config-value: a value of hidden_act must be an activation, one of gelu, gelu_tanh, relu, sigmoid, silu, tanh, not \"glu\"; did you mean `gelu`?",
		},
	}...)
}
