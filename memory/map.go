package memory

import "time"

// MapQuery asks for the map of a memory.
type MapQuery struct {
	// MaxPoints is the maximum number of points, at most 20,000; 0 means 20,000.
	MaxPoints int `json:"max_points,omitempty"`
	// KnownVersion is the version of the map that the caller has; if it is the current one, the map comes without its parts.
	KnownVersion string `json:"known_version,omitempty"`
}

// Bases of a map.
const (
	// MapOfVectors means that chunks with near vectors are near each other.
	MapOfVectors = "vectors"
	// MapOfTerms means that chunks with the same telling terms are.
	MapOfTerms = "terms"
)

// Map is a picture of a memory: chunks as points of the unit square, in which chunks about the same are near each other. Its axes and
// the distances between clusters mean nothing.
type Map struct {
	// Version changes with what the map shows; empty if there is no map yet.
	Version string `json:"version"`
	// Computing reports that a newer map is being made. Phase says what is being done, and Progress, from 0 to 1, how far it is.
	Computing bool `json:"computing"`
	// Phase is "reading", "neighbors", "layout" or "naming"; empty if no map is being made.
	Phase string `json:"phase"`
	// Progress of the newer map, from 0 to 1.
	Progress float64 `json:"progress"`
	// Err is why the last map could not be made; nil if it could.
	Err error `json:"error,omitempty"`
	// Points of the map; none if the caller has them.
	Points []MapPoint `json:"points"`
	// Files of the points.
	Files []MapFile `json:"files"`
	// Clusters of the points, the largest first.
	Clusters []MapCluster `json:"clusters"`
	// TotalChunks is the number of chunks of the index. If it is larger than that of the points, these are a sample of all files.
	TotalChunks int `json:"total_chunks"`
	// Basis is MapOfVectors or MapOfTerms; empty if there is no map.
	Basis string `json:"basis"`
	// Made is the time at which the map was made, and Took how long that took.
	Made time.Time `json:"made_time,omitzero"`
	// Took is the time that it took to make the map.
	Took time.Duration `json:"took,omitzero"`
}

// MapPoint is a chunk in a map.
type MapPoint struct {
	// X and Y are in [0,1], from left to right and from top to bottom.
	X float32 `json:"x"`
	Y float32 `json:"y"`
	// File is the index of its file in Map.Files.
	File int `json:"file"`
	// StartLine and EndLine are the first and the last line, from 1.
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
	// Heading is the headings above the chunk: "# Projects > ## Acme"; empty if there are none.
	Heading string `json:"heading"`
	// Date (YYYY-MM-DD) of the entry, else of the heading, else of the file; empty if there is none.
	Date string `json:"date"`
	// Cluster is the index of its cluster in Map.Clusters, -1 if it is in none.
	Cluster int `json:"cluster"`
}

// MapFile is a file in a map.
type MapFile struct {
	// Path relative to the workspace, with slashes.
	Path string `json:"path"`
	// Title as in File.
	Title string `json:"title"`
	// Tags as in File.
	Tags []string `json:"tags"`
	// ModTime is the modification time; zero if it is not known.
	ModTime time.Time `json:"modification_time,omitzero"`
}

// MapCluster is a crowd of points in a map.
type MapCluster struct {
	// Terms are what its chunks are about, the most telling first, as they are written there.
	Terms []string `json:"terms"`
	// X and Y are where its points are densest.
	X float32 `json:"x"`
	Y float32 `json:"y"`
	// Size is the number of its points.
	Size int `json:"size"`
}

// Activity is what a memory has of each day.
type Activity struct {
	// Days on which there is anything, in order.
	Days []ActivityDay `json:"days"`
	// Undated is the number of files of no day: neither the file nor a passage of it has one.
	Undated int `json:"undated"`
	// Today is the day now where the memory is.
	Today string `json:"today,omitempty"`
	// TurnsKept reports that turns are recorded.
	TurnsKept bool `json:"turns_kept,omitempty"`
}

// ActivityDay is what a memory has of a day.
type ActivityDay struct {
	// Date, YYYY-MM-DD.
	Date string `json:"date"`
	// Notes is the number of files with a passage of this day, each of which may have passages of other days too, and Chunks that of the chunks.
	Notes  int `json:"notes"`
	Chunks int `json:"chunks"`
	// Changed is the number of files that were last changed on this day.
	Changed int `json:"changed"`
	// Turns is the number of recorded prompts and recalls on this day, Used that of the passages that they recalled, and Recalled how
	// often passages of notes of this day were recalled, on whatever day.
	Turns    int `json:"turns,omitempty"`
	Recalled int `json:"recalled,omitempty"`
	Used     int `json:"used,omitempty"`
}
