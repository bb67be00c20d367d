package lowering

import (
	"fmt"
	"math"
)

// rescale changes the frequencies as the type of the rotary embedding asks,
// where that does not depend on the input, and returns the factor of cos and
// sin; a message if the type is not known. Formulas here and in rope_length.go:
// Transformers' modeling_rope_utils.
func (r *Rope) rescale(freqs []float64) (scale float64, problem string) {
	switch r.Type {
	case "", "default":
		return 1, ""
	case "linear", "proportional":
		for j := range freqs {
			freqs[j] /= orDefault(r.Factor, 1)
		}
		return 1, ""
	case "llama3":
		r.smooth(freqs)
		return 1, ""
	case "yarn":
		return r.yarn(freqs), ""
	}
	return 1, fmt.Sprintf("rotary embedding of type %q is not supported", r.Type)
}

// misfit says what the numbers of a scaling would have to be, or "".
func (r *Rope) misfit() string {
	scaled := r.Type != "" && r.Type != "default"
	original := r.OriginalMaxPositions > 0 || r.MaxPositions > 0
	switch {
	case r.Type == "proportional" && r.Factor == 0: // states no factor: 1
		return ""
	case scaled && r.Type != "longrope" && !(r.Factor > 0):
		return fmt.Sprintf("a factor above 0, not %g", r.Factor)
	case r.Type == "yarn" && !original:
		return "the trained length, original_max_position_embeddings"
	case r.Type == "yarn" && !(r.Theta > 1):
		return fmt.Sprintf("a theta above 1, not %g", r.Theta)
	case r.Type == "llama3" && !(0 < r.LowFreqFactor && r.LowFreqFactor < r.HighFreqFactor):
		return fmt.Sprintf("a high_freq_factor above low_freq_factor, and that above 0, not %g and %g", r.HighFreqFactor, r.LowFreqFactor)
	}
	return ""
}

// smooth divides low frequencies by the factor, keeps high ones and blends
// between: rope type llama3.
func (r *Rope) smooth(freqs []float64) {
	original := float64(r.OriginalMaxPositions)
	for j, f := range freqs {
		wavelength := 2 * math.Pi / f
		switch {
		case wavelength < original/r.HighFreqFactor:
		case wavelength > original/r.LowFreqFactor:
			freqs[j] = f / r.Factor
		default:
			s := (original/wavelength - r.LowFreqFactor) / (r.HighFreqFactor - r.LowFreqFactor)
			freqs[j] = (1-s)*f/r.Factor + s*f
		}
	}
}

// yarn blends interpolated and original frequencies by how often a pair turns
// within the original length, and returns the attention factor (arXiv 2309.00071).
func (r *Rope) yarn(freqs []float64) float64 {
	n := float64(len(freqs))
	original := float64(r.OriginalMaxPositions)
	if original == 0 {
		original = float64(r.MaxPositions)
	}
	// the (fractional) pair that turns the given number of times
	pair := func(turns float64) float64 {
		return n * math.Log(original/(turns*2*math.Pi)) / math.Log(r.Theta)
	}
	low, high := pair(orDefault(r.BetaFast, 32)), pair(orDefault(r.BetaSlow, 1))
	if r.Truncate {
		low, high = math.Floor(low), math.Ceil(high)
	}
	low, high = max(low, 0), min(high, 2*n-1)
	if low == high {
		high += 0.001
	}
	for j, f := range freqs {
		interpolated := min(max((float64(j)-low)/(high-low), 0), 1)
		freqs[j] = f/r.Factor*interpolated + f*(1-interpolated)
	}
	return r.yarnScale()
}

func (r *Rope) yarnScale() float64 {
	if r.AttentionFactor != 0 {
		return r.AttentionFactor
	}
	scale := func(m float64) float64 {
		if r.Factor <= 1 {
			return 1
		}
		return 0.1*m*math.Log(r.Factor) + 1
	}
	if r.MScale != 0 && r.MScaleAllDim != 0 {
		return scale(r.MScale) / scale(r.MScaleAllDim)
	}
	return scale(1)
}

func orDefault(v, d float64) float64 {
	if v == 0 {
		return d
	}
	return v
}

func sqrt(v float64) float64 { return math.Sqrt(v) }
