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
var ErrOffline = errors.New("offline is set, so nothing is downloaded; get the model on another machine and add its folder")

// source is where a model comes from. One of folder, archive and base is set.
type source struct {
	// folder or archive on this machine.
	folder, archive string
	// download is the address of an archive.
	download string
	// base is the address of the repository of a model, and revision that of its files.
	base, revision string
	// known is the entry of the catalog; its name is empty if there is none.
	known Known
	// given is what the user has written, or its absolute path.
	given string
}

// repository matches the name of a repository.
var repository = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$`)

// archiveSuffixes are those of archives.
var archiveSuffixes = []string{".zip", ".whl", ".jar", ".tar", ".tar.gz", ".tgz"}

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
	case err == nil:
		return source{archive: file, given: file}, nil
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

// parseAddress tells what is at an address: an archive, or a repository as huggingface.co has them.
func parseAddress(given string) (source, error) {
	u, err := url.Parse(given)
	if err != nil || u.Host == "" {
		return source{}, errors.New("this is not an address such as https://huggingface.co/intfloat/e5-small-v2")
	}
	if u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return source{}, fmt.Errorf("%w: anybody on the way could change a file that comes by http; use https", errUnsafe)
	}
	if slices.ContainsFunc(archiveSuffixes, func(s string) bool { return strings.HasSuffix(strings.ToLower(u.Path), s) }) {
		return source{download: given, given: shown(given)}, nil
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
		return source{}, fmt.Errorf("%s is neither an archive (%s) nor the page of a model, such as https://huggingface.co/intfloat/e5-small-v2",
			shown(given), strings.Join(archiveSuffixes, ", "))
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
	u, err := url.Parse(cmp.Or(s.base, s.download))
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
