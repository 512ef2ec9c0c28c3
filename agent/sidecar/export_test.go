package sidecar

// SetLeaseBytes sets the maximum size of the messages of all compactions by agents' own models.
func (s *Sidecar) SetLeaseBytes(n int64) { s.leases.maxBytes = n }
