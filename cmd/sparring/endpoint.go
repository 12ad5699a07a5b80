package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// door is how other processes of the same owner reach the ladder that a process runs. It
// is in a file of its data directory that only the owner can read, as long as the
// process runs.
type door struct {
	URL      string `json:"url"`
	User     string `json:"user"` // who may act for every player
	Password string `json:"password"`
	Page     string `json:"page,omitempty"`
	Process  int    `json:"process"`
}

func doorFile(data string) string { return filepath.Join(data, "ladder.json") }

// openDoor writes the file. The function returned removes it.
func openDoor(data string, d door) (closeDoor func(), err error) {
	text, err := json.Marshal(d)
	if err == nil {
		err = writeSecret(doorFile(data), append(text, '\n'))
	}
	if err != nil {
		return nil, dataError(data, "ladder", err)
	}
	return func() { os.Remove(doorFile(data)) }, nil // a stale file does no harm
}

// hasEnded returns a function that reports whether the ladder that runs with the data
// now has ended since: its file is gone, or is another's.
func hasEnded(data string) func() bool {
	before, _, _ := findDoor(data)
	return func() bool {
		now, _, err := findDoor(data)
		return err == nil && now != before
	}
}

// findDoor reads the file in a data directory; ok is false if there is none.
func findDoor(data string) (d door, ok bool, err error) {
	text, err := os.ReadFile(doorFile(data))
	if errors.Is(err, fs.ErrNotExist) {
		return door{}, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		return door{}, false, fmt.Errorf("%s: %w", doorFile(data), err)
	}
	return d, true, nil
}
