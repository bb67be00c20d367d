package checkpoint

import (
	"fmt"
	"math"
	"os"
	"slices"
	"sync"

	"mobiusc/ir"
)

// node is a tensor that is computed when it is read, part by part: the bytes of
// a file, or what a transform makes of other nodes.
type node interface {
	dtype() ir.DataType
	dims() []int64
	// read fills dst with count elements, from element start on in row-major
	// order, and adds what conversions lost to counts.
	read(dst []byte, start, count int64, counts *Counts) error
}

// width returns the bytes of an element; the types that transforms take have
// whole bytes.
func width(n node) int64 { return int64(n.dtype().Bits() / 8) }

// elements returns the number of elements of a shape that a file holds, which
// therefore does not overflow.
func elements(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

// stored is a tensor as its file holds it.
type stored struct {
	file   *os.File
	info   TensorInfo
	linked bool // the file was reached by a link that leaves the directory
}

func (s *stored) dtype() ir.DataType { return s.info.DType.ONNX() }
func (s *stored) dims() []int64      { return s.info.Shape }

func (s *stored) read(dst []byte, start, count int64, _ *Counts) error {
	w := width(s)
	if _, err := s.file.ReadAt(dst[:count*w], s.info.Offset+start*w); err != nil {
		return fmt.Errorf("%s: tensor %q: %w", s.info.File, s.info.Name, reason(err))
	}
	return nil
}

// view reads the elements of another node in another order: element
// (i, j, …) is the base's element offset + i·strides[0] + j·strides[1] + ….
type view struct {
	base    node
	offset  int64
	shape   []int64
	strides []int64 // elements
}

func (v *view) dtype() ir.DataType { return v.base.dtype() }
func (v *view) dims() []int64      { return v.shape }

// rowMajor returns the strides of a contiguous tensor.
func rowMajor(dims []int64) []int64 {
	strides, n := make([]int64, len(dims)), int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = n
		n *= dims[i]
	}
	return strides
}

// viewOf returns a node as a view, so that the operations below compose.
func viewOf(n node) *view {
	if v, ok := n.(*view); ok {
		return v
	}
	return &view{base: n, shape: n.dims(), strides: rowMajor(n.dims())}
}

// contiguous reports whether the view reads its base in order.
func (v *view) contiguous() bool {
	want := rowMajor(v.shape)
	for i, d := range v.shape {
		if d != 1 && v.strides[i] != want[i] {
			return false
		}
	}
	return true
}

func transposeOf(n node, perm []int) node {
	v := viewOf(n)
	out := &view{base: v.base, offset: v.offset}
	for _, p := range perm {
		out.shape, out.strides = append(out.shape, v.shape[p]), append(out.strides, v.strides[p])
	}
	return out
}

// reshapeOf returns the node with other dims of the same number of elements.
func reshapeOf(n node, dims []int64) node {
	v := viewOf(n)
	if !v.contiguous() {
		return &view{base: v, shape: dims, strides: rowMajor(dims)}
	}
	return &view{base: v.base, offset: v.offset, shape: dims, strides: rowMajor(dims)}
}

// sliceOf returns size indices of an axis, from index from on.
func sliceOf(n node, axis int, from, size int64) node {
	v := viewOf(n)
	shape := slices.Clone(v.shape)
	shape[axis] = size
	return &view{base: v.base, offset: v.offset + from*v.strides[axis], shape: shape, strides: v.strides}
}

func (v *view) read(dst []byte, start, count int64, counts *Counts) error {
	if v.contiguous() {
		return v.base.read(dst, v.offset+start, count, counts)
	}
	shape, strides := v.merged()
	g := &gather{base: v.base, width: width(v), counts: counts}
	return g.rows(dst, shape, strides, v.offset, start, count)
}

// merged returns the shape and strides without dims of 1 and with dims joined
// that are read one after the other, so that runs are as long as they can be.
func (v *view) merged() (shape, strides []int64) {
	for i, d := range v.shape {
		last := len(shape) - 1
		switch {
		case d == 1:
		case last >= 0 && strides[last] == d*v.strides[i]:
			shape[last], strides[last] = shape[last]*d, v.strides[i]
		default:
			shape, strides = append(shape, d), append(strides, v.strides[i])
		}
	}
	return shape, strides
}

// gather reads strided elements of a node.
type gather struct {
	base   node
	width  int64
	counts *Counts
	run    []byte
}

// rows reads count elements from element start on of a strided block at offset.
// It cuts them into boxes: whole rows, and the parts of rows before and after.
func (g *gather) rows(dst []byte, shape, strides []int64, offset, start, count int64) error {
	inner := elements(shape[1:])
	for count > 0 {
		row, in := start/inner, start%inner
		n := count / inner * inner
		var err error
		if in == 0 && n > 0 {
			box := append([]int64{n / inner}, shape[1:]...)
			err = g.box(dst, box, strides, offset+row*strides[0])
		} else {
			n = min(count, inner-in)
			err = g.rows(dst, shape[1:], strides[1:], offset+row*strides[0], in, n)
		}
		if err != nil {
			return err
		}
		dst, start, count = dst[n*g.width:], start+n, count-n
	}
	return nil
}

// box reads a whole strided block. It reads along the axis whose elements lie
// closest together in the base, and scatters them.
func (g *gather) box(dst []byte, shape, strides []int64, offset int64) error {
	near := 0
	for i := range strides {
		if strides[i] <= strides[near] {
			near = i
		}
	}
	run, step := shape[near], strides[near]
	to := rowMajor(shape)
	if step != 1 {
		run = 1
	}
	if need := run * g.width; int64(len(g.run)) < need {
		g.run = make([]byte, need)
	}
	index := make([]int64, len(shape))
	for {
		from, at := offset, int64(0)
		for i, x := range index {
			from, at = from+x*strides[i], at+x*to[i]
		}
		if err := g.copyRun(dst[at*g.width:], from, run, to[near]); err != nil {
			return err
		}
		if !advance(index, shape, near, run) {
			return nil
		}
	}
}

// copyRun reads run neighbouring elements and writes them step elements apart.
func (g *gather) copyRun(dst []byte, from, run, step int64) error {
	if step == 1 || run == 1 {
		return g.base.read(dst[:run*g.width], from, run, g.counts)
	}
	if err := g.base.read(g.run, from, run, g.counts); err != nil {
		return err
	}
	for i := range run {
		copy(dst[i*step*g.width:], g.run[i*g.width:(i+1)*g.width])
	}
	return nil
}

// advance steps an index through a shape, the axis near by run at a time.
func advance(index, shape []int64, near int, run int64) bool {
	for i := len(index) - 1; i >= 0; i-- {
		step := int64(1)
		if i == near {
			step = run
		}
		if index[i] += step; index[i] < shape[i] {
			return true
		}
		index[i] = 0
	}
	return false
}

// joined is the concatenation of nodes along an axis.
type joined struct {
	parts []node
	axis  int
	shape []int64
}

func concatOf(parts []node, axis int) node {
	if len(parts) == 1 {
		return parts[0]
	}
	shape := slices.Clone(parts[0].dims())
	for _, p := range parts[1:] {
		shape[axis] += p.dims()[axis]
	}
	return &joined{parts: parts, axis: axis, shape: shape}
}

func (j *joined) dtype() ir.DataType { return j.parts[0].dtype() }
func (j *joined) dims() []int64      { return j.shape }

func (j *joined) read(dst []byte, start, count int64, counts *Counts) error {
	row := elements(j.shape[j.axis:])
	w := width(j)
	for count > 0 {
		outer, in := start/row, start%row
		for _, p := range j.parts {
			size := elements(p.dims()[j.axis:])
			if in >= size {
				in -= size
				continue
			}
			n := min(count, size-in)
			if n == 0 {
				break
			}
			if err := p.read(dst[:n*w], outer*size+in, n, counts); err != nil {
				return err
			}
			dst, start, count, in = dst[n*w:], start+n, count-n, 0
		}
	}
	return nil
}

// cast is a node converted to another type.
type cast struct {
	base node
	to   ir.DataType
}

func castOf(n node, to ir.DataType) node {
	if n.dtype() == to {
		return n
	}
	return &cast{n, to}
}

func (c *cast) dtype() ir.DataType { return c.to }
func (c *cast) dims() []int64      { return c.base.dims() }

func (c *cast) read(dst []byte, start, count int64, counts *Counts) error {
	block := count
	if inOrder(c.base) {
		block = min(count, blockSize/width(c))
	}
	from, to := width(c.base), width(c)
	buffer := getBuffer(block * from)
	defer putBuffer(buffer)
	for count > 0 {
		n := min(count, block)
		src := (*buffer)[:n*from]
		if err := c.base.read(src, start, n, counts); err != nil {
			return err
		}
		lost, err := Convert(dst[:n*to], c.to, src, c.base.dtype())
		if err != nil {
			return err
		}
		counts.Add(lost)
		dst, start, count = dst[n*to:], start+n, count-n
	}
	return nil
}

// buffers holds scratch memory between reads.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

func getBuffer(n int64) *[]byte {
	b := buffers.Get().(*[]byte)
	if int64(cap(*b)) < n {
		*b = make([]byte, n)
	}
	*b = (*b)[:n]
	return b
}

func putBuffer(b *[]byte) { buffers.Put(b) }

// affine is scale·x + shift, of a node of type float or double, in that type.
type affine struct {
	base         node
	scale, shift float64
}

// affineOf computes in float, or in double where the node is of that type.
func affineOf(n node, scale, shift float64) node {
	if n.dtype() != ir.Float64 {
		n = castOf(n, ir.Float32)
	}
	return &affine{n, scale, shift}
}

func (a *affine) dtype() ir.DataType { return a.base.dtype() }
func (a *affine) dims() []int64      { return a.base.dims() }

func (a *affine) read(dst []byte, start, count int64, counts *Counts) error {
	if err := a.base.read(dst, start, count, counts); err != nil {
		return err
	}
	if a.dtype() == ir.Float64 {
		for b := dst[:8*count]; len(b) >= 8; b = b[8:] {
			x := math.Float64frombits(le.Uint64(b))
			le.PutUint64(b, math.Float64bits(float64(x*a.scale)+a.shift))
		}
		return nil
	}
	scale, shift := float32(a.scale), float32(a.shift)
	for b := dst[:4*count]; len(b) >= 4; b = b[4:] {
		x := math.Float32frombits(le.Uint32(b))
		// The conversion keeps the product from being fused with the sum, which
		// would round differently on some processors.
		le.PutUint32(b, math.Float32bits(float32(x*scale)+shift))
	}
	return nil
}

// regionOf returns where the node's bytes lie unchanged in a file, if they do.
func regionOf(n node) (Region, bool) {
	switch n := n.(type) {
	case *stored:
		return Region{n, n.info.Offset, n.info.Length}, true
	case *view:
		r, ok := regionOf(n.base)
		if !ok || !n.contiguous() {
			return Region{}, false
		}
		w := width(n)
		if w == 0 { // less than a byte: only a whole tensor, reshaped
			return r, elements(n.shape) == elements(n.base.dims())
		}
		return Region{r.tensor, r.Offset + n.offset*w, elements(n.shape) * w}, true
	}
	return Region{}, false
}

// inOrder reports whether the node reads its files from beginning to end, so
// that small blocks cost nothing.
func inOrder(n node) bool {
	switch n := n.(type) {
	case *stored:
		return true
	case *view:
		return n.contiguous() && inOrder(n.base)
	case *cast:
		return inOrder(n.base)
	case *affine:
		return inOrder(n.base)
	case *joined:
		return n.axis == 0 && !slices.ContainsFunc(n.parts, func(p node) bool { return !inOrder(p) })
	}
	return false
}
