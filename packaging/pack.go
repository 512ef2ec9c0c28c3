package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// file is a file in a package.
type file struct {
	name string // with slashes
	mode int64
	data []byte
}

// writeTar writes files, in their order, as a tar file that is compressed by gzip.
func (r release) writeTar(name string, files []file) error {
	var packed bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(compressed)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: r.modified}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Close(), compressed.Close()); err != nil {
		return err
	}
	return r.write(name, packed.Bytes())
}

// writeZip writes files, in their order, as a zip file.
func (r release) writeZip(name string, files []file) error {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.modified}
		header.SetMode(os.FileMode(f.mode))
		part, err := w.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := part.Write(f.data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return r.write(name, packed.Bytes())
}

// write writes a package, unless it is too large.
func (r release) write(name string, data []byte) error {
	if len(data) > maxPacked {
		return fmt.Errorf("%s has %d bytes, and at most %d may be downloaded", name, len(data), maxPacked)
	}
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}
