package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// Build returns the name and version of this build, for hellos and records: the module's
// version and the commit, as recorded by the Go tool; a version that is made from the commit
// has it already. If these do not identify the build, as with go run or changes that are
// not committed, a plus sign and the first digits of the program's SHA-256 follow.
var Build = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildName(info, executableDigest)
})

// buildName is Build for the given record of the Go tool.
func buildName(info *debug.BuildInfo, digest func() string) string {
	name, exact := "sparring", false
	version := strings.TrimSuffix(info.Main.Version, "+dirty") // the digest says more
	if version != "" {
		name += " " + version
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			exact = true
			if commit := s.Value[:min(len(s.Value), 12)]; !strings.HasSuffix(version, commit) {
				name += " " + commit
			}
		case s.Key == "vcs.modified" && s.Value == "true":
			exact = false
		}
	}
	if !exact {
		name += "+" + digest()
	}
	return name
}

// executableDigest returns the first digits of this program's SHA-256, or "" if
// the program can't be read.
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
