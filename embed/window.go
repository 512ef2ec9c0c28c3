package embed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Window is the vector of a few lines of a text, quantized to one byte a number.
type Window struct {
	// From and To are the first and the last line of the window, counted from 0 in the text.
	From, To int
	// Scale times Codes is about the unit vector of the window.
	Scale float32
	// Codes are the quantized numbers, from -127 to 127.
	Codes []int8
}

// QuantizeWindow returns the window of lines From to To with a unit vector, of which it keeps one byte a number.
func QuantizeWindow(from, to int, vector []float32) Window {
	w := Window{From: from, To: to, Codes: make([]int8, len(vector))}
	var largest float32
	for _, x := range vector {
		largest = max(largest, x, -x)
	}
	if largest == 0 {
		return w
	}
	w.Scale = largest / 127
	for i, x := range vector {
		w.Codes[i] = int8(math.Round(float64(x / w.Scale)))
	}
	return w
}

// Dot returns the scalar product with a query vector: about their cosine if the query has unit length. It returns 0 if the
// vectors have different lengths.
func (w Window) Dot(query []float32) float64 {
	if len(query) != len(w.Codes) {
		return 0
	}
	var a, b, c, d float32
	n := len(query) &^ 3
	for i := 0; i < n; i += 4 {
		q, x := query[i:i+4:i+4], w.Codes[i:i+4:i+4]
		a += q[0] * float32(x[0])
		b += q[1] * float32(x[1])
		c += q[2] * float32(x[2])
		d += q[3] * float32(x[3])
	}
	for i := n; i < len(query); i++ {
		a += query[i] * float32(w.Codes[i])
	}
	return float64(a+b+c+d) * float64(w.Scale)
}

// windowsFormat is the first byte of encoded windows: 2 since a window ends at paragraphs, items, rows and notes.
const windowsFormat = 2

// HasCurrentWindows reports whether encoded windows were cut as chunker.Windows cuts them now.
func HasCurrentWindows(encoded []byte) bool { return len(encoded) > 0 && encoded[0] == windowsFormat }

// EncodeWindows returns the windows of one text as bytes: the format (2), the numbers of dimensions and of windows, for each
// window its first line, the number of its further lines and its scale, and then the codes of all windows. Numbers are
// unsigned varints, scales are little-endian float32. All windows have the same dimensions. The result is never empty.
func EncodeWindows(windows []Window) []byte {
	dims := 0
	if len(windows) > 0 {
		dims = len(windows[0].Codes)
	}
	b := make([]byte, 0, 8+len(windows)*(8+dims))
	b = append(b, windowsFormat)
	b = binary.AppendUvarint(b, uint64(dims))
	b = binary.AppendUvarint(b, uint64(len(windows)))
	for _, w := range windows {
		b = binary.AppendUvarint(b, uint64(w.From))
		b = binary.AppendUvarint(b, uint64(w.To-w.From))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(w.Scale))
	}
	for _, w := range windows {
		for _, c := range w.Codes {
			b = append(b, byte(c))
		}
	}
	return b
}

// errWindows is the error of bytes that are no encoded windows.
var errWindows = errors.New("malformed windows")

const (
	// maxLine bounds the line numbers of decoded windows.
	maxLine = 1 << 30
	// leastWindow is the number of bytes of a window without its codes: two varints and a scale.
	leastWindow = 6
)

// DecodeWindows is the inverse of EncodeWindows. It returns an error for any other bytes, and for windows of another number
// of dimensions. It never allocates more than a few times the length of b.
func DecodeWindows(b []byte, dims int) ([]Window, error) {
	if len(b) == 0 || b[0] != windowsFormat {
		return nil, fmt.Errorf("%w: unknown format", errWindows)
	}
	d := windowDecoder{b: b[1:]}
	have, n := d.number(), d.number()
	if d.short || n > len(d.b)/(leastWindow+have) || n > 0 && have != dims {
		return nil, fmt.Errorf("%w: %d windows of %d dimensions in %d bytes", errWindows, n, have, len(b))
	}
	windows := make([]Window, n)
	for i := range windows {
		windows[i] = d.window()
	}
	if d.short || len(d.b) != n*have {
		return nil, fmt.Errorf("%w: %d bytes for the codes of %d windows", errWindows, len(d.b), n)
	}
	codes := make([]int8, len(d.b))
	for i, c := range d.b {
		codes[i] = int8(c)
	}
	for i := range windows {
		windows[i].Codes = codes[i*have : (i+1)*have : (i+1)*have]
	}
	return windows, nil
}

// windowDecoder reads the numbers of encoded windows.
type windowDecoder struct {
	b     []byte
	short bool // a number is missing or out of bounds
}

// number returns the next number, 0 if there is none below maxLine.
func (d *windowDecoder) number() int {
	n, size := binary.Uvarint(d.b)
	if size <= 0 || n >= maxLine {
		d.b, d.short = nil, true
		return 0
	}
	d.b = d.b[size:]
	return int(n)
}

// window returns the next window without its codes.
func (d *windowDecoder) window() Window {
	w := Window{From: d.number()}
	w.To = w.From + d.number()
	if len(d.b) < 4 {
		d.b, d.short = nil, true
		return w
	}
	w.Scale = math.Float32frombits(binary.LittleEndian.Uint32(d.b))
	d.b = d.b[4:]
	if !(w.Scale >= 0 && w.Scale <= maxNorm) {
		d.short = true
	}
	return w
}
