package kiokuv1

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// TimeOf returns a time as a message, and nil for the zero time.
func TimeOf(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}
