package compiler_test

import "testing"

// Mixers and feed-forwards that are not dense attention or an MLP.

func TestParityExperts(t *testing.T)    { parity(t, "qwen3_moe", "qwen3_moe") }
func TestParityStateSpace(t *testing.T) { parity(t, "mamba", "mamba") }
