package store

import "syscall"

// networkFileSystems are the names of file systems, by the number of statfs(2), on which the shared memory of a log or its
// locks do not work between machines.
var networkFileSystems = map[int64]string{
	0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB2", 0x01021997: "9p", 0x5346414f: "AFS", 0x65735546: "FUSE",
	0x00c36400: "Ceph",
}

// networkFileSystem returns the name of the network file system that a folder is on, "" if it is on none or that is not known.
func networkFileSystem(dir string) string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return ""
	}
	return networkFileSystems[int64(st.Type)]
}
