package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/council"
	"kioku/council/engine"
	"kioku/council/member"
)

// Rights of a council, as a token file has them. Those that end with a colon are followed by a name.
const (
	rightRead   = "read"
	rightSubmit = "submit"
	rightOwner  = "owner"
	rightMember = "member:"
	rightWorker = "worker:"
	rightBridge = "bridge:"
)

// councilRights are what a caller may do in a council. The zero value may do nothing.
type councilRights struct {
	// all is true for the user who runs the server.
	all    bool
	rights []string
}

// parseCouncilRights checks the rights of a token.
func parseCouncilRights(list []string) (councilRights, error) {
	r := councilRights{}
	for _, one := range list {
		one = strings.TrimPrefix(strings.TrimSpace(one), "council:")
		kind, name, named := strings.Cut(one, ":")
		switch kind += ":"; {
		case !named && slices.Contains([]string{rightRead, rightSubmit, rightOwner}, one):
		case named && (kind == rightMember || kind == rightWorker) && council.ValidName(name):
		case named && kind == rightBridge && slices.Contains(council.Platforms, name):
		default:
			return r, fmt.Errorf("council: %q is no right; rights are read, submit, owner, member:NAME, worker:NAME and bridge:PLATFORM (%s)",
				clip(one, 80), strings.Join(council.Platforms, ", "))
		}
		r.rights = append(r.rights, one)
	}
	slices.Sort(r.rights)
	r.rights = slices.Compact(r.rights)
	return r, nil
}

// has reports whether a right is there. An owner may read and submit; whoever may submit or is a member may read.
func (r councilRights) has(right string) bool {
	switch {
	case r.all || slices.Contains(r.rights, right):
		return true
	case right == rightSubmit:
		return slices.Contains(r.rights, rightOwner) || r.any(rightBridge)
	case right == rightRead:
		return r.has(rightSubmit) || r.any(rightMember)
	}
	return false
}

// any reports whether there is a right of a kind.
func (r councilRights) any(kind string) bool {
	return slices.ContainsFunc(r.rights, func(one string) bool { return strings.HasPrefix(one, kind) })
}

// none reports whether there is no right at all.
func (r councilRights) none() bool { return !r.all && len(r.rights) == 0 }

// list returns the rights, sorted.
func (r councilRights) list() []string {
	if r.all {
		return []string{rightOwner, rightRead, rightSubmit}
	}
	return r.rights
}

// useCouncil records that the call uses a right of the council.
func (c *call) useCouncil(right string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.councils = append(c.councils, right)
}

// errNoCouncil is the error of a service without a council.
var errNoCouncil = status.Error(codes.Unimplemented, "this service has no council; its setting council.folder names one")

// errStranger is the error for somebody whom a bridge does not vouch for as an owner.
var errStranger = status.Error(codes.PermissionDenied, "this sender is no owner of the council; council.yaml lists the owners of each platform")

// errCouncilRight is the error for a caller who has none of some rights.
func errCouncilRight(rights []string) error {
	return status.Errorf(codes.PermissionDenied, "this token lacks the right %s in the council; add it to its list council in the token file",
		strings.Join(rights, " or "))
}

// councilStatus returns the status of an error of a council, nil for others.
func councilStatus(err error) error {
	switch {
	case errors.Is(err, engine.ErrNotFound), errors.Is(err, member.ErrNoTurn):
		return status.Error(codes.NotFound, clip(err.Error(), maxOwnMessage))
	case errors.Is(err, engine.ErrExists):
		return status.Error(codes.AlreadyExists, clip(err.Error(), maxOwnMessage))
	case errors.Is(err, engine.ErrDenied):
		return status.Error(codes.PermissionDenied, clip(err.Error(), maxOwnMessage))
	case errors.Is(err, engine.ErrState), errors.Is(err, engine.ErrReadOnly):
		return status.Error(codes.FailedPrecondition, clip(err.Error(), maxOwnMessage))
	}
	return nil
}
