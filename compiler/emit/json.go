package emit

import (
	"bytes"
	"encoding/json"
)

// AppendJSON encodes v with everything that holds no objects on one line: a list
// of a thousand tensors is a thousand lines, and a diff reads well.
func AppendJSON(b []byte, v any) ([]byte, error) {
	var compact bytes.Buffer
	enc := json.NewEncoder(&compact)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return append(appendValueText(b, bytes.TrimSpace(compact.Bytes()), ""), '\n'), nil
}

// appendValueText lays out one compact JSON value.
func appendValueText(b, v []byte, indent string) []byte {
	if !holdsObjects(v) {
		return appendSpaced(b, v)
	}
	inner := indent + "  "
	b = append(b, v[0], '\n')
	for i, item := range splitItems(v) {
		if i > 0 {
			b = append(b, ",\n"...)
		}
		b = append(b, inner...)
		if v[0] == '{' {
			n := endOfString(item)
			b = append(append(b, item[:n]...), ": "...)
			item = item[n+1:]
		}
		b = appendValueText(b, item, inner)
	}
	b = append(append(b, '\n'), indent...)
	return append(b, v[len(v)-1])
}

// holdsObjects reports whether an object or array has an object inside.
func holdsObjects(v []byte) bool {
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			i += endOfString(v[i:]) - 1
		case '{':
			if i > 0 {
				return true
			}
		}
	}
	return false
}

// endOfString returns the length of the JSON string that s begins with.
func endOfString(s []byte) int {
	for i := 1; ; i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// splitItems returns the items of a compact object or array: "key":value, or
// value.
func splitItems(v []byte) [][]byte {
	var items [][]byte
	depth, start := 0, 1
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			i += endOfString(v[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 && i > start {
				items = append(items, v[start:i])
			}
		case ',':
			if depth == 1 {
				items = append(items, v[start:i])
				start = i + 1
			}
		}
	}
	return items
}

// appendSpaced appends compact JSON with a space after colons and commas.
func appendSpaced(b, v []byte) []byte {
	for i := 0; i < len(v); i++ {
		if v[i] == '"' {
			n := endOfString(v[i:])
			b = append(b, v[i:i+n]...)
			i += n - 1
			continue
		}
		if b = append(b, v[i]); v[i] == ',' || v[i] == ':' {
			b = append(b, ' ')
		}
	}
	return b
}
