package engine

import (
	"regexp"
	"runtime/debug"
	"testing"
)

// TestBuildName: two programs whose commit does not tell them apart have
// different names.
func TestBuildName(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}
	clean, dirty := debug.BuildSetting{Key: "vcs.modified", Value: "false"}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for _, c := range []struct {
		version  string
		settings []debug.BuildSetting
		want     string
	}{
		{"v1.2.3", []debug.BuildSetting{revision, clean}, "sparring v1.2.3 0123456789ab"},
		{"v1.2.3", []debug.BuildSetting{revision, dirty}, "sparring v1.2.3 0123456789ab+beef"},
		{"v0.0.0-20261125215522-0123456789ab", []debug.BuildSetting{revision, clean}, "sparring v0.0.0-20261125215522-0123456789ab"},
		{"v0.0.0-20261125215522-0123456789ab+dirty", []debug.BuildSetting{revision, dirty}, "sparring v0.0.0-20261125215522-0123456789ab+beef"},
		{"v1.2.3+dirty", []debug.BuildSetting{revision, dirty}, "sparring v1.2.3 0123456789ab+beef"},
		{"(devel)", nil, "sparring (devel)+beef"},
		{"", nil, "sparring+beef"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.version}, Settings: c.settings}
		if got := buildName(info, func() string { return "beef" }); got != c.want {
			t.Errorf("%q %v: %q, want %q", c.version, c.settings, got, c.want)
		}
	}
	if got := executableDigest(); !regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(got) {
		t.Errorf("digest of this test: %q", got)
	}
}
