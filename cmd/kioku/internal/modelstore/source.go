package modelstore

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kioku/internal/text"
)

// Hub is where models are published.
const Hub = "https://huggingface.co"

// ErrOffline reports that nothing may be downloaded.
var ErrOffline = errors.New("offline is set, so nothing is downloaded; get the model on another machine and add its folder: kioku model add FOLDER")

// source is where a model comes from. One of folder and base is set.
type source struct {
	// folder on this machine.
	folder string
	// base is the address of the repository of a model, and revision that of its files.
	base, revision string
	// known is the entry of the catalog; its name is empty if there is none.
	known Known
	// given is what the user has written, or its absolute path.
	given string
}

// repository matches the name of a repository.
var repository = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$`)

// parseSource tells what a user means: a known name, a path from dir, an address, or a repository.
func parseSource(given, dir, hub string) (source, error) {
	if strings.HasPrefix(given, "http://") || strings.HasPrefix(given, "https://") {
		return parseAddress(given)
	}
	if known, ok := Lookup(given); ok {
		return source{base: hub + "/" + known.Repository, revision: known.Revision, known: known, given: known.Name}, nil
	}
	file := given
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	info, err := os.Stat(file)
	switch {
	case err == nil && info.IsDir():
		return source{folder: file, given: file}, nil
	case err == nil && filepath.Base(file) == weightsName:
		return source{folder: filepath.Dir(file), given: filepath.Dir(file)}, nil
	case err == nil:
		return source{}, fmt.Errorf("%s is no %s; unpack an archive, and add the folder of the model", file, weightsName)
	case repository.MatchString(given):
		return source{base: hub + "/" + given, revision: "main", given: given}, nil
	}
	return source{}, unknownSource(given)
}

// unknownSource returns the error for something that is no source.
func unknownSource(given string) error {
	var names []string
	for _, k := range Catalog() {
		names = append(names, k.Name)
	}
	problem := fmt.Sprintf("there is no file or folder %s, and no known model of this name", given)
	if near := text.Nearest(strings.ToLower(given), names); near != "" {
		return fmt.Errorf("%s; did you mean %s?", problem, near)
	}
	return fmt.Errorf("%s; known are %s", problem, strings.Join(names, ", "))
}

// parseAddress tells which repository, as huggingface.co has them, is at an address.
func parseAddress(given string) (source, error) {
	u, err := url.Parse(given)
	if err != nil || u.Host == "" {
		return source{}, errors.New("this is not an address such as https://huggingface.co/intfloat/e5-small-v2")
	}
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return source{}, fmt.Errorf("%w: anybody on the way could change a file that comes by http; use https", errUnsafe)
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	u.RawQuery, u.Fragment = "", ""
	revision := "main"
	for i, part := range parts {
		if i+1 < len(parts) && slices.Contains([]string{"tree", "resolve", "blob"}, part) {
			revision, parts = parts[i+1], parts[:i]
			break
		}
	}
	if len(parts) != 2 {
		return source{}, fmt.Errorf("%s is not the page of a model, such as https://huggingface.co/intfloat/e5-small-v2", shown(given))
	}
	u.Path = "/" + path.Join(parts...)
	s := source{base: u.String(), revision: revision, given: shown(given)}
	if known, ok := Lookup(path.Join(parts...)); ok && revision == known.Revision {
		s.known = known
	}
	return s, nil
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// remote returns the host that the source is downloaded from, empty if it is on this machine.
func (s source) remote() string {
	u, err := url.Parse(s.base)
	if err != nil || isLoopback(u.Hostname()) {
		return ""
	}
	return u.Hostname()
}

// model returns the name of the model where it was published, as far as it is known.
func (s source) model() string {
	if s.known.Name != "" {
		return s.known.Repository
	}
	if u, err := url.Parse(s.base); err == nil && s.base != "" {
		return strings.Trim(u.Path, "/")
	}
	return path.Base(filepath.ToSlash(strings.TrimRight(s.given, "/")))
}

// name returns the name that the model gets if the user names none.
func (s source) name() string {
	return cmp.Or(s.known.Name, nameFrom(strings.TrimRight(cmp.Or(s.base, s.given), "/")))
}
