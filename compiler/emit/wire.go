package emit

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is the number of a protobuf field.
type field = protowire.Number

// The helpers append one field. Empty texts are left out, like an optional
// field that is not set.

func appendText(b []byte, f field, s string) []byte {
	if s == "" {
		return b
	}
	return appendEntry(b, f, s)
}

// appendEntry appends an element of a repeated field: also an empty one.
func appendEntry[T string | []byte](b []byte, f field, s T) []byte {
	b = protowire.AppendTag(b, f, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendInt(b []byte, f field, v int64) []byte {
	b = protowire.AppendTag(b, f, protowire.VarintType)
	return protowire.AppendVarint(b, uint64(v))
}

func appendFloat(b []byte, f field, v float32) []byte {
	b = protowire.AppendTag(b, f, protowire.Fixed32Type)
	return protowire.AppendFixed32(b, math.Float32bits(v))
}

// begin starts a nested message; the length that end returns counts what is
// appended in between.
func begin(b []byte, f field) ([]byte, int) {
	b = protowire.AppendTag(b, f, protowire.BytesType)
	return append(b, 0), len(b) + 1
}

// end writes the length of the message that begins at start in front of it.
// Moving the message by the few bytes that its length takes costs less than
// computing the sizes of everything first.
func end(b []byte, start int) []byte {
	n := len(b) - start
	if k := protowire.SizeVarint(uint64(n)); k > 1 {
		b = append(b, make([]byte, k-1)...)
		copy(b[start+k-1:], b[start:start+n])
	}
	protowire.AppendVarint(b[:start-1], uint64(n))
	return b
}
