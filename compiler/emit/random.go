package emit

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"mobiusc/internal/float16"
	"mobiusc/ir"
)

// RandomWeight is a weight to be filled with normally distributed numbers.
type RandomWeight struct {
	// Name seeds the numbers: tensors of the same name and number of elements
	// are equal, in whatever component and dtype.
	Name string
	// Tensor states the dtype (float, float16 or bfloat16) and, in
	// External, the place in the data file.
	Tensor    *ir.Tensor
	Mean, Std float64
}

// chunkSize is how many bytes are generated and written at a time.
const chunkSize = 1 << 20

// FillRandom writes random weights into the data file at path. The numbers
// depend on the seed, the weight's name and the position of an element only. It
// uses one buffer of 1 MiB for each CPU. progress, unless nil, is called
// concurrently with the number of bytes written since the last call.
func FillRandom(ctx context.Context, path string, seed uint64, weights []RandomWeight, progress func(bytes int64)) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	jobs, err := randomJobs(seed, weights)
	if err != nil {
		return err
	}
	return inParallel(ctx, len(jobs), func() func(i int) error {
		buf := make([]byte, chunkSize)
		return func(i int) error {
			n, err := jobs[i].write(f, buf)
			if err == nil && progress != nil {
				progress(n)
			}
			return err
		}
	})
}

// inParallel runs jobs 0 to n-1 on every CPU, each CPU with its own worker, and
// returns the first error. No new job starts after one.
func inParallel(ctx context.Context, n int, worker func() func(i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			run := worker()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := run(i); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// randomJob is one chunk of a random weight.
type randomJob struct {
	key    uint64
	table  *normalTable
	first  int64 // element
	count  int64 // elements
	offset int64 // in the file
}

func randomJobs(seed uint64, weights []RandomWeight) ([]randomJob, error) {
	tables := map[distribution]*normalTable{}
	var jobs []randomJob
	for _, w := range weights {
		t := w.Tensor
		if t.External == nil || t.External.Length != t.ByteLen() {
			return nil, fmt.Errorf("weight %s has no place in the data file", w.Name)
		}
		d := distribution{t.Type, w.Mean, w.Std}
		if tables[d] == nil {
			table, err := d.table()
			if err != nil {
				return nil, fmt.Errorf("weight %s: %w", w.Name, err)
			}
			tables[d] = table
		}
		h := fnv.New64a()
		h.Write([]byte(w.Name)) //nolint:errcheck // never fails
		size := int64(t.Type.Bits() / 8)
		step := chunkSize / size
		for first := int64(0); first < t.Len(); first += step {
			jobs = append(jobs, randomJob{
				key: mix(seed ^ mix(h.Sum64())), table: tables[d],
				first: first, count: min(step, t.Len()-first), offset: t.External.Offset + first*size,
			})
		}
	}
	return jobs, nil
}

// mix is the finalizer of the splitmix64 generator (Steele, Lea, Flood: Fast
// Splittable Pseudorandom Number Generators, 2014).
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// write generates the chunk in buf and writes it.
func (j *randomJob) write(f *os.File, buf []byte) (int64, error) {
	if j.table.bits16 != nil {
		buf = j.generate16(buf)
	} else {
		buf = j.generate32(buf)
	}
	n, err := f.WriteAt(buf, j.offset)
	return int64(n), err
}

// Each random number of 64 bits gives four elements: 16 bits choose an entry of
// the table. Chunks begin at a multiple of four.

func (j *randomJob) generate16(buf []byte) []byte {
	table := j.table.bits16
	for i := range uint64(j.count+3) / 4 {
		r := mix(j.key + uint64(j.first/4) + i)
		v := uint64(table[r&0xffff]) | uint64(table[r>>16&0xffff])<<16 | uint64(table[r>>32&0xffff])<<32 | uint64(table[r>>48])<<48
		binary.LittleEndian.PutUint64(buf[8*i:], v)
	}
	return buf[:2*j.count]
}

func (j *randomJob) generate32(buf []byte) []byte {
	table := j.table.bits32
	for i := range uint64(j.count+3) / 4 {
		r := mix(j.key + uint64(j.first/4) + i)
		for k := range uint64(4) {
			binary.LittleEndian.PutUint32(buf[16*i+4*k:], table[r>>(16*k)&0xffff])
		}
	}
	return buf[:4*j.count]
}

// distribution is a normal distribution of numbers in a dtype.
type distribution struct {
	dtype     ir.DataType
	mean, std float64
}

// normalTable holds 65,536 quantiles of a distribution, encoded in its dtype: a
// lookup makes an element in about a nanosecond. One of the fields is set.
type normalTable struct {
	bits16 *[1 << 16]uint16
	bits32 *[1 << 16]uint32
}

func (d distribution) table() (*normalTable, error) {
	quantiles := standardNormal()
	value := func(i int) float32 {
		// The conversion keeps compilers from fusing the two operations, which
		// would round differently on other machines.
		return float32(float64(d.std*quantiles[i]) + d.mean)
	}
	t := &normalTable{}
	switch d.dtype {
	case ir.Float16, ir.BFloat16:
		encode := float16.F16FromValue
		if d.dtype == ir.BFloat16 {
			encode = float16.BF16FromValue
		}
		t.bits16 = new([1 << 16]uint16)
		for i := range t.bits16 {
			t.bits16[i] = encode(value(i))
		}
	case ir.Float32:
		t.bits32 = new([1 << 16]uint32)
		for i := range t.bits32 {
			t.bits32[i] = math.Float32bits(value(i))
		}
	default:
		return nil, fmt.Errorf("random numbers of type %s are not supported; want float, float16 or bfloat16", d.dtype)
	}
	return t, nil
}

// standardNormal returns the quantiles at (i + 1/2) / 65536 of the standard
// normal distribution. They are rounded to 1/4096, so that the last bits of the
// machine's logarithm do not show.
var standardNormal = sync.OnceValue(func() *[1 << 16]float64 {
	var table [1 << 16]float64
	for i := range table {
		p := (float64(i) + 0.5) / float64(len(table))
		table[i] = math.Round(math.Sqrt2*math.Erfinv(2*p-1)*4096) / 4096
	}
	return &table
})
