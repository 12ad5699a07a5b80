package configs

import (
	"strings"
	"testing"
	"time"

	"sparring/game/clock"
)

type settings struct {
	Name  string        `default:"nobody" desc:"who"`
	Pause time.Duration `default:"1s" desc:"how long"`
	Deep  struct {
		Count int        `default:"3" desc:"how many"`
		Clock clock.Spec `default:"60+1" desc:"a clock"`
		LagMS int        `split_words:"true" default:"7" desc:"two words"`
	}
}

func TestFromEnvDefaults(t *testing.T) {
	var s settings
	if err := FromEnv("CONFIGS_TEST_EMPTY", &s); err != nil {
		t.Fatal(err)
	}
	if s.Name != "nobody" || s.Pause != time.Second || s.Deep.Count != 3 || s.Deep.Clock.String() != "60+1" || s.Deep.LagMS != 7 {
		t.Errorf("defaults: %+v", s)
	}
}

func TestFromEnvReportsAllFaults(t *testing.T) {
	t.Setenv("CT_NAME", "somebody")
	t.Setenv("CT_PAUSE", "soon")
	t.Setenv("CT_DEEP_COUNT", "many")
	t.Setenv("CT_DEEP_CLOCK", "10 minutes")
	t.Setenv("CT_DEEP_LAG_MS", "9")
	var s settings
	err := FromEnv("CT", &s)
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3 {
		t.Errorf("%d lines, want 3:\n%v", len(lines), err)
	}
	for _, name := range []string{"CT_PAUSE", "CT_DEEP_COUNT", "CT_DEEP_CLOCK"} {
		if !strings.Contains(err.Error(), name+":") {
			t.Errorf("%s is not named in:\n%v", name, err)
		}
	}
	for _, want := range []string{`CT_PAUSE: "soon": want a time, such as`, `CT_DEEP_COUNT: "many": want a whole number`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %s in:\n%v", want, err)
		}
	}
	if s.Name != "somebody" || s.Pause != time.Second || s.Deep.Count != 3 || s.Deep.LagMS != 9 {
		t.Errorf("want valid values, and defaults for the rest: %+v", s)
	}
}

func TestEnvHelpNamesEveryVariable(t *testing.T) {
	var b strings.Builder
	if err := EnvHelp(&b, "CT", &settings{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"CT_NAME", "(default nobody)", "who", "CT_DEEP_COUNT", "how many", "CT_DEEP_LAG_MS", "CT_DEEP_CLOCK", "(default 60+1)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, b.String())
		}
	}
}
