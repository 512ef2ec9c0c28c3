package encoder

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// maxHeader is the largest header that is read, in bytes. It is the limit of the reference implementation.
const maxHeader = 100_000_000

// ErrFormat is wrapped by the error for a file that is no whole and valid safetensors file.
var ErrFormat = errors.New("not a valid safetensors file")

// ErrChanged is returned by Check for a file that was cut off or written to after it was opened.
var ErrChanged = errors.New("the file of the model was changed while it was in use: restart Kioku, and replace a model by renaming, not by writing into its file")

// File is an open .safetensors file, the format in which Hugging Face publishes weights, mapped into memory. The header of a file is
// checked before anything of it is believed: lengths, offsets, shapes and types have to agree with each other and with the size of
// the file, so that a damaged or hostile file is an error, and nothing is allocated that is larger than the file itself. Its methods are safe for concurrent use, except for Close.
type File struct {
	file    *os.File
	opened  os.FileInfo
	mapped  []byte // the whole file; nil after Close
	tensors Tensors
}

// Open maps the file at path and checks its header. The error names the file and wraps ErrFormat if its content is at fault.
func Open(path string) (*File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a named pipe would wait for a writer
		return nil, fmt.Errorf("%s: %w: it is not a regular file", filepath.Base(path), ErrFormat)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := open(file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return f, nil
}

func open(file *os.File) (*File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is not a regular file", ErrFormat)
	}
	header, err := readHeader(file, info.Size())
	if err != nil {
		return nil, err
	}
	// Several processes that map the same file share its pages.
	mapped, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map the file into memory: %w", err)
	}
	tensors, err := parseHeader(header, mapped[8+len(header):])
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrFormat, err), syscall.Munmap(mapped))
	}
	return &File{file: file, opened: info, mapped: mapped, tensors: tensors}, nil
}

// readHeader returns the JSON text of the header of a file of size bytes.
func readHeader(file *os.File, size int64) ([]byte, error) {
	var length [8]byte
	if size < int64(len(length)) {
		return nil, fmt.Errorf("%w: it has only %d bytes", ErrFormat, size)
	}
	if _, err := file.ReadAt(length[:], 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader || int64(n) > size-8 {
		return nil, fmt.Errorf("%w: its header claims %d bytes of a file of %d: it is cut off, or not a safetensors file", ErrFormat, n, size)
	}
	header := make([]byte, n)
	if _, err := file.ReadAt(header, 8); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return header, nil
}

// Tensors returns the tensors of the file, which may be read as long as it is open.
func (f *File) Tensors() Tensors { return f.tensors }

// Parameters returns the number of elements of all tensors.
func (f *File) Parameters() int {
	n := 0
	for _, t := range f.tensors {
		n += t.Len()
	}
	return n
}

// Check returns ErrChanged if the file has another size or time of modification than when it was opened. Reading a tensor of
// a file that was cut off since would end the process, so whoever keeps a file open calls Check before each use. A file that
// another one was renamed over stays as it was and passes.
func (f *File) Check() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != f.opened.Size() || !info.ModTime().Equal(f.opened.ModTime()) {
		return ErrChanged
	}
	return nil
}

// Close unmaps the file. No tensor of it may be read after that.
func (f *File) Close() error {
	if f.mapped == nil {
		return nil
	}
	err := syscall.Munmap(f.mapped)
	f.mapped, f.tensors = nil, nil
	return errors.Join(err, f.file.Close())
}
