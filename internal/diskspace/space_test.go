package diskspace

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestNote: the forecast follows from the readings of the last hours.
func TestNote(t *testing.T) {
	begin := time.Date(2026, 7, 11, 0, 0, 0, 0, time.UTC)
	limits := Limits{Within: 24 * time.Hour, Share: 0.9}
	for _, c := range []struct {
		name  string
		every time.Duration
		used  []int64
		want  string
		low   bool
	}{
		{"one reading", time.Hour, []int64{500}, "disk is 50 % full", false},
		{"full by share", time.Hour, []int64{900}, "disk is 90 % full", true},
		{"it grows slowly", time.Hour, []int64{500, 510}, "disk is 51 % full, and full in 49h0m", false},
		{"it grows fast", time.Hour, []int64{500, 600}, "disk is 60 % full, and full in 4h0m", true},
		{"it was watched for too short", time.Minute, []int64{500, 600}, "disk is 60 % full", false},
		{"it shrinks", time.Hour, []int64{600, 500}, "disk is 50 % full", false},
		{"only the last hours count", 2 * time.Hour, []int64{0, 700, 700, 700, 700}, "disk is 70 % full", false},
		{"full", time.Hour, []int64{500, 1000}, "disk is 100 % full", true},
	} {
		w := Watch{Limits: limits}
		var l Level
		for i, used := range c.used {
			l = w.Note("disk", used, 1000, begin.Add(time.Duration(i)*c.every))
		}
		if l.String() != c.want || l.Low != c.low {
			t.Errorf("%s: %s, low %v, want %s, %v", c.name, l, l.Low, c.want, c.low)
		}
	}
	var never Watch
	if l := never.Note("disk", 1000, 1000, begin); l.Low {
		t.Error("low without limits")
	}
}

// TestDisk: what is written is used.
func TestDisk(t *testing.T) {
	dir := t.TempDir()
	used, most, err := Disk(dir)
	if err != nil {
		t.Skip(err)
	}
	if used < 0 || most < used {
		t.Errorf("%d of %d bytes", used, most)
	}
	if _, _, err := Disk(filepath.Join(dir, "none")); !os.IsNotExist(unwrapped(err)) {
		t.Errorf("no such directory: %v", err)
	}
}

func unwrapped(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return err
}
