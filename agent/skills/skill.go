package skills

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"kioku/internal/text"
)

// skillName matches the name of a skill, which stands in lists and headings. It takes milliseconds to compile, which a command
// without skills must not wait for.
var skillName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN][\pL\pM\pN ._:-]{0,63}$`) })

// words is a YAML list of words, or a single word.
type words []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (w *words) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		if n.Tag != "!!null" {
			*w = words{n.Value}
		}
		return nil
	}
	return n.Decode((*[]string)(w))
}

// header is the front matter of a SKILL.md. Other keys belong to other programs.
type header struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	Invocation  string `yaml:"invocation"`
	UserOnly    bool   `yaml:"disable-model-invocation"`
	OS          words  `yaml:"os"`
	Requires    struct {
		Bins    words `yaml:"bins"`
		AnyBins words `yaml:"anyBins"`
		Env     words `yaml:"env"`
	} `yaml:"requires"`
}

// skill is a SKILL.md.
type skill struct {
	header
	// path of the file, or of a folder that cannot be read, and source, the text of the file.
	path, source string
	body         string
	// reason says why the file is no skill; empty if it is one.
	reason string
}

// parse returns the skill in a file.
func parse(path, source string) *skill {
	s := &skill{path: path, source: source}
	mapping, length, err := text.FrontMatter(source)
	if err == nil {
		err = s.decode(mapping)
	}
	if err != nil {
		s.reason = err.Error()
		return s
	}
	s.body = strings.TrimSpace(source[length:])
	s.Name, s.Description, s.Invocation = text.OneLine(s.Name), text.OneLine(s.Description), text.OneLine(s.Invocation)
	switch {
	case s.Name == "":
		s.reason = "front matter has no name"
	case !skillName().MatchString(s.Name):
		s.reason = fmt.Sprintf("name %.80q: take letters, digits, spaces and . _ : -, at most 64", s.Name)
	case s.Description == "":
		s.reason = "front matter has no description"
	}
	return s
}

// decode fills the header. A panic of the parser becomes an error, because anyone may have written the file.
func (s *skill) decode(mapping *yaml.Node) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("front matter: cannot be parsed as YAML")
		}
	}()
	if err := mapping.Decode(&s.header); err != nil {
		s.header = header{}
		return fmt.Errorf("front matter: %s", text.OneLine(err.Error()))
	}
	return nil
}

// obstacle says why a skill cannot be used on this machine; empty if it can. inPath reports whether a program is in PATH.
func (s *skill) obstacle(inPath func(bin string) bool) string {
	if len(s.OS) > 0 && !slices.ContainsFunc(s.OS, isThisOS) {
		return fmt.Sprintf("is for %s, and this is %s", strings.Join(s.OS, ", "), runtime.GOOS)
	}
	for _, bin := range s.Requires.Bins {
		if !inPath(bin) {
			return fmt.Sprintf("needs the program %s, which is not in PATH", bin)
		}
	}
	if any := s.Requires.AnyBins; len(any) > 0 && !slices.ContainsFunc(any, inPath) {
		return fmt.Sprintf("needs one of the programs %s, of which none is in PATH", strings.Join(any, ", "))
	}
	for _, name := range s.Requires.Env {
		if os.Getenv(name) == "" {
			return fmt.Sprintf("needs the environment variable %s", name)
		}
	}
	return ""
}

// isThisOS reports whether a common name of an operating system means this one.
func isThisOS(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "macos", "mac":
		name = "darwin"
	case "win32":
		name = "windows"
	}
	return name == runtime.GOOS
}

// newInPath returns a function that reports whether a program is in PATH, and looks for each only once. It returns false for a
// path.
func newInPath() func(bin string) bool {
	known := map[string]bool{"": false}
	return func(bin string) bool {
		found, ok := known[bin]
		if !ok && !strings.ContainsAny(bin, `/\`) {
			_, err := exec.LookPath(bin)
			found = err == nil
			known[bin] = found
		}
		return found
	}
}
