package protocol

import "time"

// Header is part of every request, and of its answer with the same id.
type Header struct {
	V  int    `json:"v"`
	ID string `json:"id"` // 1 to 32 of a-z 0-9 _ -, chosen by the sender; repeated with the request
}

// newHeader returns the header of a new request.
func newHeader() Header { return Header{V: Version, ID: NewID()} }

func (h *Header) version() int { return h.V }

// RequestID returns the id of the request.
func (h *Header) RequestID() string { return h.ID }

// Answer is part of every answer. If the request took effect, Error is nil and
// Code is Accepted or Duplicate.
type Answer struct {
	Header
	Code       Code      `json:"code"`
	Error      *Error    `json:"error,omitempty"`
	ServerTime time.Time `json:"server_time"`
}

// answers reports whether this is the answer to the request with this id. A
// refusal without an id is, too: the platform could not read the request.
func (a *Answer) answers(id string) bool {
	return a.ID == id || a.ID == "" && a.Error != nil
}
