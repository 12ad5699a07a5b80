package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime/debug"
	"sync"
)

// Build names this version of the engine, for records: the module's version
// and the commit it was built from, as far as the Go tool has recorded them.
// Where they do not tell all, as with go run, a plus sign and the beginning of
// the program's SHA-256 tell two builds apart.
var Build = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildName(info, executableDigest)
})

// buildName is Build for what the Go tool has recorded.
func buildName(info *debug.BuildInfo, digest func() string) string {
	name, exact := "sparring", false
	if v := info.Main.Version; v != "" {
		name += " " + v
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			name, exact = name+" "+s.Value[:min(len(s.Value), 12)], true
		case s.Key == "vcs.modified" && s.Value == "true":
			exact = false
		}
	}
	if !exact {
		name += "+" + digest()
	}
	return name
}

// executableDigest is the beginning of this program's SHA-256; "" where the
// program can't be read.
func executableDigest() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}
