package httpapi

import (
	"bytes"
	"encoding/json"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// MarshalLine returns the proto3 JSON of a message with a line break at its end, without the blanks that protojson varies on
// purpose.
func MarshalLine(m proto.Message, opt protojson.MarshalOptions) ([]byte, error) {
	loose, err := opt.Marshal(m)
	if err != nil {
		return nil, err
	}
	line := bytes.NewBuffer(make([]byte, 0, len(loose)+1))
	if err := json.Compact(line, loose); err != nil {
		return nil, err
	}
	line.WriteByte('\n')
	return line.Bytes(), nil
}
