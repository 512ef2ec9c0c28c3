// Command packaging makes what a release has of the static binaries: archives, packages of npm, wheels for PyPI, and the formula for
// Homebrew. Equal files make equal packages: their dates are SOURCE_DATE_EPOCH, their owner is nobody in particular, their order is fixed.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// maxPacked is the maximum size of a package in bytes.
const maxPacked = 25_000_000

// description is the one line that registries show.
const description = "Memory service for AI agents: searches a folder of Markdown, and writes what is worth keeping into it"

// release is what packages are made of.
type release struct {
	root     string    // the folder of the sources, with README.md and LICENSE
	out      string    // the folder of the packages
	version  string    // as git describe tells it
	modified time.Time // of each file in a package
	pypi     string    // name of the wheel
	github   string    // OWNER/REPOSITORY that has the release
	programs []program
}

// program is a static binary for Linux.
type program struct {
	arch string // Go's name
	data []byte
}

func main() {
	if err := run(os.Args[1:], os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

// run makes all packages. What is no flag is ARCH=BINARY.
func run(args []string, epoch string) error {
	var r release
	flags := flag.NewFlagSet("packaging", flag.ContinueOnError)
	flags.StringVar(&r.root, "root", ".", "folder of the sources")
	flags.StringVar(&r.out, "out", "bin/dist", "folder of the packages; it has the archive of the sources")
	flags.StringVar(&r.version, "version", "dev", "version, as git describe tells it")
	flags.StringVar(&r.pypi, "pypi", "kioku-cli", "name on PyPI")
	flags.StringVar(&r.github, "github", "OWNER/kioku", "repository on GitHub that has the release")
	if err := flags.Parse(args); err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	r.modified = time.Unix(seconds, 0).UTC()
	for _, arg := range flags.Args() {
		arch, path, _ := strings.Cut(arg, "=")
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		r.programs = append(r.programs, program{arch, data})
	}
	for _, step := range []func(release) error{archives, npm, wheels, formula} {
		if err := step(r); err != nil {
			return err
		}
	}
	return nil
}

// archives makes an archive of each binary with the documents.
func archives(r release) error {
	prefix := "kioku-" + r.version + "/"
	var documents []file
	for _, name := range []string{"README.md", "CHANGELOG.md", "LICENSE", "docs"} {
		err := filepath.WalkDir(filepath.Join(r.root, name), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(r.root, path)
			documents = append(documents, file{prefix + filepath.ToSlash(name), 0o644, data})
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, p := range r.programs {
		files := append([]file{{prefix + "kioku", 0o755, p.data}}, documents...)
		if err := r.writeTar(fmt.Sprintf("kioku-%s-linux-%s.tar.gz", r.version, p.arch), files); err != nil {
			return err
		}
	}
	return nil
}

// text returns a file of the sources.
func (r release) text(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(r.root, name))
}
