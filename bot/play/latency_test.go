package play

import (
	"testing"
	"time"
)

func TestMeter(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	m := newLatency(ms(30))
	if m.Overhead() != ms(30) {
		t.Errorf("without a sample: %v, want the estimate", m.Overhead())
	}
	m.Add(ms(1))
	if m.Overhead() != ms(30) {
		t.Errorf("one quick sample: %v, want still the estimate", m.Overhead())
	}
	if quick := newLatency(0); quick.Overhead() != minOverhead {
		t.Errorf("a quick start: %v, want the minimum", quick.Overhead())
	}
	for i := range 100 {
		m.Add(ms(i + 1)) // the last 50 are 51 to 100
	}
	if m.Overhead() != ms(98) { // rank 48 of 50
		t.Errorf("95th percentile of 51..100: %v, want 98ms", m.Overhead())
	}
	for range 50 {
		m.Add(ms(20))
	}
	if m.Overhead() != ms(20) {
		t.Errorf("old samples still count: %v", m.Overhead())
	}
	for range 2 {
		m.Add(time.Second) // two of fifty are within the five percent
	}
	if m.Overhead() != ms(20) {
		t.Errorf("two outliers: %v, want 20ms", m.Overhead())
	}
}

func TestPulseTellsTheAgeOfAMessage(t *testing.T) {
	var p ServerClock
	here := time.Now()
	there := here.Add(-7 * time.Hour) // the platform's clock is wrong by hours
	if p.Age(there, here) != 0 {
		t.Error("an age without any answer")
	}
	p.Observe(here, here.Add(40*time.Millisecond), there.Add(20*time.Millisecond))
	at := func(d time.Duration) time.Time { return here.Add(d) }
	if got := p.Age(there.Add(time.Second), at(3*time.Second)); got != 2*time.Second {
		t.Errorf("age %v, want 2s", got)
	}
	if got := p.Age(there.Add(9*time.Second), at(3*time.Second)); got != 0 {
		t.Errorf("a message from the future: age %v, want 0", got)
	}
	// A slow answer is inaccurate and does not replace a quick one.
	p.Observe(at(time.Second), at(3*time.Second), there.Add(time.Second))
	if got := p.Age(there.Add(time.Second), at(3*time.Second)); got != 2*time.Second || p.RoundTrip() != 40*time.Millisecond {
		t.Errorf("after a slow answer: age %v, trip %v", got, p.RoundTrip())
	}
	// A step of the platform's clock is accepted at once.
	var set ServerClock
	set.Observe(here, here.Add(time.Millisecond), there)
	set.Observe(here, here.Add(time.Second), there.Add(time.Hour))
	if got := set.Age(there.Add(time.Hour), at(time.Second/2+time.Second)); got != time.Second {
		t.Errorf("after the platform's clock was set: age %v, want 1s", got)
	}
	// An old sample is replaced even by a slower one.
	p.Observe(at(2*time.Minute), at(2*time.Minute+100*time.Millisecond), there.Add(2*time.Minute+50*time.Millisecond))
	if p.RoundTrip() != 100*time.Millisecond {
		t.Errorf("trip %v, want the new 100ms", p.RoundTrip())
	}
}
