// Package checkpoint reads safetensors checkpoints, binds their tensors to the
// parameters of a model, and streams the bound bytes, converted where the
// dtypes differ. It never holds a weight in memory.
//
//	Open    headers and index, everything checked, nothing else read
//	Bind    parameters × tensors × rules → one Source a parameter, or findings
//	Copy    sources → one data file, parallel, in bounded memory
//	InPlace sources → regions of the checkpoint's own files, and a side file
//
// See docs/weights.md for the rules and the figures.
package checkpoint
