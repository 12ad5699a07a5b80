package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sparring/internal/atomicfile"
)

// endpoint is how other processes of the same owner reach the ladder that a process runs. It
// is in a file of its data directory that only the owner can read, as long as the
// process runs.
type endpoint struct {
	URL      string `json:"url"`
	User     string `json:"user"` // who may act for every player
	Password string `json:"password"`
	Page     string `json:"page,omitempty"`
	Process  int    `json:"process"`
}

func endpointFile(data string) string { return filepath.Join(data, "ladder.json") }

// writeEndpoint writes the file. The function returned removes it.
func writeEndpoint(data string, e endpoint) (removeEndpoint func(), err error) {
	text, err := json.Marshal(e)
	if err == nil {
		err = atomicfile.WriteSecret(endpointFile(data), append(text, '\n'))
	}
	if err != nil {
		return nil, dataError(data, "ladder", err)
	}
	return func() { os.Remove(endpointFile(data)) }, nil // a stale file does no harm
}

// hasEnded returns a function that reports whether the ladder that runs with the data
// now has ended since: its file is gone, or is another's.
func hasEnded(data string) func() bool {
	before, _, _ := readEndpoint(data)
	return func() bool {
		now, _, err := readEndpoint(data)
		return err == nil && now != before
	}
}

// readEndpoint reads the file in a data directory; ok is false if there is none.
func readEndpoint(data string) (e endpoint, ok bool, err error) {
	text, err := os.ReadFile(endpointFile(data))
	if errors.Is(err, fs.ErrNotExist) {
		return endpoint{}, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		return endpoint{}, false, fmt.Errorf("%s: %w", endpointFile(data), err)
	}
	return e, true, nil
}
