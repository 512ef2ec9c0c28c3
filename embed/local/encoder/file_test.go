package encoder_test

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/embed/local/encoder"
)

// write writes a file and returns its path.
func write(tb testing.TB, content []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "model.safetensors")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		tb.Fatal(err)
	}
	return path
}

// file returns the content of a file with a header and n bytes of data.
func file(header string, n int) []byte {
	content := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(content, header...), make([]byte, n)...)
}

func TestOpenReadsTensorsOfEveryType(t *testing.T) {
	t.Parallel()
	values := []float32{0, 1, -2, .5, 96, -0.125}
	f, err := encoder.Open("testdata/types.safetensors") // its last tensor is not aligned
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if diff := cmp.Diff([]string{"BF16", "F16", "F32", "I32", "I8", "odd"}, slices.Sorted(maps.Keys(f.Tensors()))); diff != "" {
		t.Error(diff)
	}
	if n := f.Parameters(); n != 24 {
		t.Errorf("%d parameters, want 24", n)
	}
	for name, want := range map[string][]float32{"F32": values, "F16": values, "BF16": values, "I8": {-128, 0, 127}, "odd": {42}} {
		tensor := f.Tensors()[name]
		got, err := tensor.Float32s()
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	whole := f.Tensors()["I32"]
	if got, err := whole.Ints(); err != nil || !cmp.Equal(got, []int{-7, 1 << 20}) {
		t.Errorf("I32 is %v, error %v", got, err)
	}
	if _, err := whole.Float32s(); err == nil {
		t.Error("a tensor of whole numbers is read as float32")
	}
	part := make([]float32, 2)
	tensor := f.Tensors()["F16"]
	if err := tensor.Decode(part, 3); err != nil || !cmp.Equal(part, []float32{.5, 96}) {
		t.Errorf("two elements from the fourth are %v, error %v", part, err)
	}
}

func TestHalfPrecisionNumbers(t *testing.T) {
	t.Parallel()
	bits := []uint16{0x0001, 0x03ff, 0x0400, 0x3c01, 0x7bff, 0x7c00, 0xfc00, 0x8001}
	want := []float64{0x1p-24, 0x1p-14 - 0x1p-24, 0x1p-14, 1 + 0x1p-10, 65504, math.Inf(1), math.Inf(-1), -0x1p-24}
	content := file(`{"h":{"dtype":"F16","shape":[8],"data_offsets":[0,16]}}`, 0)
	for _, b := range bits {
		content = binary.LittleEndian.AppendUint16(content, b)
	}
	f, err := encoder.Open(write(t, content))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tensor := f.Tensors()["h"]
	got, err := tensor.Float32s()
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if float64(got[i]) != w {
			t.Errorf("%#04x is %g, want %g", bits[i], got[i], w)
		}
	}
}

// A truncated, a hostile (lengths, offsets, 2^40 rows, names that are there twice) and a foreign file: a clear error.
func TestOpenRefusesWhatContradictsItself(t *testing.T) {
	t.Parallel()
	whole := file(`{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}`, 16)
	one := func(entry string, n int) []byte { return file(`{"a":`+entry+`}`, n) }
	for _, c := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"empty", nil, "only 0 bytes"},
		{"cut off in the length", whole[:5], "only 5 bytes"},
		{"cut off in the header", whole[:20], "cut off"},
		{"cut off in the data", whole[:len(whole)-1], "cut off"},
		{"more at the end", append(whole, 0), "more at its end"},
		{"another format", []byte("PK\x03\x04 this is a zip file and not a model"), "not a safetensors file"},
		{"length of 2^63", append(binary.LittleEndian.AppendUint64(nil, 1<<63), whole...), "not a safetensors file"},
		{"header that is no object", file(`[1, 2]`, 0), "JSON object"},
		{"unknown type", one(`{"dtype":"Q4","shape":[1],"data_offsets":[0,1]}`, 1), `unknown type "Q4"`},
		{"negative offset", one(`{"dtype":"I8","shape":[2],"data_offsets":[-1,1]}`, 1), "impossible offsets"},
		{"offsets in the wrong order", one(`{"dtype":"I8","shape":[0],"data_offsets":[1,0]}`, 1), "impossible offsets"},
		{"one offset", one(`{"dtype":"I8","shape":[0],"data_offsets":[1]}`, 1), "impossible offsets"},
		{"more after the header", file(`{} {}`, 0), "JSON object"},
		{"offset beyond the file", one(`{"dtype":"I8","shape":[99],"data_offsets":[0,99]}`, 1), "cut off"},
		{"offset of 2^63", one(`{"dtype":"I8","shape":[1],"data_offsets":[0,9223372036854775808]}`, 1), "cannot unmarshal"},
		{"2^40 rows", one(`{"dtype":"F32","shape":[1099511627776,4],"data_offsets":[0,16]}`, 16), "does not fit"},
		{"2^40 rows of nothing", one(`{"dtype":"F32","shape":[0,1099511627776],"data_offsets":[0,0]}`, 0), "does not fit"},
		{"shape whose product overflows", one(`{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,16]}`, 16), "does not fit"},
		{"negative dimension", one(`{"dtype":"F32","shape":[-2,-2],"data_offsets":[0,16]}`, 16), "does not fit"},
		{"shape of fewer bytes", one(`{"dtype":"F32","shape":[2],"data_offsets":[0,16]}`, 16), "does not need 16 bytes"},
		{"many dimensions", one(`{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}`, 4), "9 dimensions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := encoder.Open(write(t, c.content))
			if !errors.Is(err, encoder.ErrFormat) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestOpenRefusesAFolder(t *testing.T) {
	t.Parallel()
	if _, err := encoder.Open(t.TempDir()); !errors.Is(err, encoder.ErrFormat) {
		t.Errorf("the error is %v, want ErrFormat", err)
	}
}

// A file that another one is renamed over stays as it was; one that is cut off or written into is reported.
func TestCheckTellsAReplacedFileFromAChangedOne(t *testing.T) {
	t.Parallel()
	content := file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4)
	path := write(t, content)
	f, err := encoder.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Rename(write(t, append(content, 1)), path); err != nil {
		t.Fatal(err)
	}
	if err := f.Check(); err != nil {
		t.Errorf("after another file was renamed over it: %v", err)
	}
	again, err := encoder.Open(write(t, content))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	if err := again.Check(); err != nil {
		t.Errorf("a file that nobody touched: %v", err)
	}
	changed := write(t, content)
	third, err := encoder.Open(changed)
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	if err := os.Truncate(changed, 10); err != nil {
		t.Fatal(err)
	}
	if err := third.Check(); !errors.Is(err, encoder.ErrChanged) {
		t.Errorf("after the file was cut off: %v, want ErrChanged", err)
	}
}

// Any file is refused, or each tensor lies within it; nothing larger than the file is allocated.
func FuzzOpen(f *testing.F) {
	f.Add(file(`{"a":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]},"b":{"dtype":"BF16","shape":[3],"data_offsets":[8,14]}}`, 14))
	f.Add(file(`{"a":{"dtype":"F32","shape":[1099511627776,4],"data_offsets":[0,16]}}`, 16))
	f.Add(file(`{"a":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"__metadata__":{"a":"b"}}`, 8))
	path := filepath.Join(f.TempDir(), "model.safetensors")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		file, err := encoder.Open(path)
		if err != nil {
			if !errors.Is(err, encoder.ErrFormat) {
				t.Errorf("the error %v is not an ErrFormat", err)
			}
			return
		}
		defer file.Close()
		for _, tensor := range file.Tensors() {
			if tensor.Len() > len(content) {
				t.Fatalf("%d elements in a file of %d bytes", tensor.Len(), len(content))
			}
			tensor.Float32s()
			tensor.Ints()
		}
	})
}
