package policy

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"sparring/protocol"
)

// TestLedgerNeverAboveItsBounds compares the ledger with a model that only counts,
// under random operations.
func TestLedgerNeverAboveItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Limits{Games: rapid.IntRange(1, 6).Draw(t, "games"), Levels: rapid.IntRange(0, 3).Draw(t, "levels"), PerBot: rapid.IntRange(0, 2).Draw(t, "per bot")}
		b.ForHumans = rapid.IntRange(0, b.Games).Draw(t, "humans")
		l := NewLedger(b)
		var held []*Reservation
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				n := Need{
					Player:   rapid.SampledFrom([]protocol.PlayerID{"a", "b"}).Draw(t, "player"),
					MaxGames: rapid.IntRange(0, 3).Draw(t, "most"),
					Human:    rapid.Bool().Draw(t, "human"),
					Running:  rapid.Bool().Draw(t, "running"),
					Spare:    rapid.Bool().Draw(t, "spare"),
					Level:    rapid.Bool().Draw(t, "level"),
				}
				if n.Level && !n.Human {
					n.Bot = rapid.SampledFrom([]protocol.PlayerID{"x", "y"}).Draw(t, "bot")
				}
				free := l.Free(n)
				s, err := l.Reserve(n, 0, nil)
				if n.beyondSlots() && free == 0 {
					t.Fatalf("no room for the seat of a running game with %d slots used", l.Used())
				}
				if (err == nil) != (free > 0) {
					t.Fatalf("free %d, but reserve says %v", free, err)
				}
				if err == nil {
					held = append(held, s)
				}
			},
			"release": func(t *rapid.T) {
				if len(held) == 0 {
					t.Skip("nothing held")
				}
				i := rapid.IntRange(0, len(held)-1).Draw(t, "which")
				held[i].Release()
				held[i].Release() // the second must not count
				held = append(held[:i], held[i+1:]...)
			},
			"": func(t *rapid.T) {
				games, bots, levels := 0, 0, 0 // with the seats of running games: these take slots, too
				against := map[protocol.PlayerID]int{}
				beyond := 0
				for _, r := range held {
					if r.need.beyondSlots() {
						beyond++
					}
					if r.need.Level {
						levels++
						if r.need.Bot != "" {
							against[r.need.Bot]++
						}
						continue
					}
					games++
					if !r.need.Human {
						bots++
					}
				}
				if l.Used() != len(held) {
					t.Fatalf("used %d of %d held", l.Used(), len(held))
				}
				if most := max(against["x"], against["y"]); b.PerBot > 0 && most > b.PerBot+beyond {
					t.Fatalf("%d games of levels against one bot: over %+v", most, b)
				}
				if games > b.Games+beyond || bots > b.Games-b.ForHumans+beyond || levels > b.Levels+beyond {
					t.Fatalf("%d games, %d against bots, %d of levels, %d of them beyond the slots: over %+v", games, bots, levels, beyond, b)
				}
			},
		})
	})
}

// A player's own limit, the slots kept for people and a restriction each admit as many games
// as they say: not one more, and not one less.
func TestLedgerAdmitsUpToItsBounds(t *testing.T) {
	l := NewLedger(Limits{Games: 4, ForHumans: 1})
	var held []*Reservation
	admits := func(what string, need Need, want int) {
		t.Helper()
		got := 0
		for ; ; got++ {
			r, err := l.Reserve(need, 0, nil)
			if err != nil {
				break
			}
			held = append(held, r)
		}
		if got != want {
			t.Errorf("%s: %d admitted, want %d", what, got, want)
		}
	}
	release := func() {
		for _, r := range held {
			r.Release()
		}
		held = nil
	}
	for range 2 { // the second time after all were released
		admits("a player's own limit", Need{Player: "a", MaxGames: 2}, 2)
		admits("another player, against bots", Need{Player: "b", MaxGames: 2}, 1)
		admits("against people", Need{Player: "b", MaxGames: 2, Human: true}, 1)
		release()
	}
	for most := range 3 {
		l.Restrict(most)
		admits("restricted", Need{Human: true}, most)
		admits("seats that others may have room for", Need{Human: true, Running: true, Spare: true}, 0)
		release()
	}
	l.Unrestrict()
	admits("games", Need{Human: true}, 4)
	admits("seats that others may have room for", Need{Player: "a", Running: true, Spare: true}, 0)
	admits("seats of running games", Need{Player: "a", MaxGames: 2, Running: true}, protocol.MaxPlaying)
	admits("another player's", Need{Player: "a-level", Level: true, Bot: "b", Running: true}, protocol.MaxPlaying)
	admits("games beside them", Need{Player: "b", Human: true}, 0)
	release()
	l.Restrict(-1)
	admits("restricted to less than nothing", Need{Human: true}, 0)
	l.Unrestrict()
	admits("unrestricted", Need{Human: true}, 4)
}

// TestLedgerUnderConcurrency reserves, confirms, releases and lets expire from many
// goroutines.
func TestLedgerUnderConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(Limits{Games: 5, ForHumans: 2})
		var mu sync.Mutex
		all, bots := 0, 0
		add := func(human bool, n int) {
			mu.Lock()
			defer mu.Unlock()
			all += n
			if !human {
				bots += n
			}
			if all > 5 || bots > 3 {
				t.Errorf("%d games, %d against bots", all, bots)
			}
		}
		var wg sync.WaitGroup
		for g := range 20 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(g)))
				for range 200 {
					human := r.IntN(2) == 0
					hold := time.Duration(r.IntN(3)) * time.Millisecond
					s, err := l.Reserve(Need{Human: human}, hold, func() {})
					if err != nil {
						time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
						continue
					}
					if s.Confirm() {
						add(human, 1)
						time.Sleep(time.Duration(r.IntN(3000)) * time.Microsecond)
						add(human, -1)
						s.Release()
					}
				}
			})
		}
		wg.Wait()
		if l.Used() != 0 {
			t.Errorf("%d slots still taken", l.Used())
		}
	})
}

func TestReservationExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(Limits{Games: 1})
		expired := 0
		s, err := l.Reserve(Need{}, time.Second, func() { expired++ })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Reserve(Need{}, time.Second, nil); !errors.Is(err, ErrFull) {
			t.Fatalf("second reservation: %v, want ErrFull", err)
		}
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		if expired != 1 || l.Used() != 0 || s.Confirm() {
			t.Fatalf("expired %d times, %d used", expired, l.Used())
		}

		s, err = l.Reserve(Need{}, time.Second, func() { expired++ })
		if err != nil || !s.Confirm() {
			t.Fatalf("a new hold: %v", err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if expired != 1 || l.Used() != 1 {
			t.Fatalf("a kept slot expired")
		}
		s.Release()
		if l.Used() != 0 {
			t.Fatal("not released")
		}
	})
}

func TestLedgerSignalsAndAdmits(t *testing.T) {
	l := NewLedger(Limits{Games: 2})
	s, _ := l.Reserve(Need{}, 0, nil)
	<-l.Changed()
	s.Release()
	<-l.Changed()
	fresh, running := Need{}, Need{Running: true}
	for _, c := range []struct {
		admits       Admission
		fresh, began error
	}{
		{AdmitNone, ErrClosed, ErrClosed},
		{AdmitRunning, ErrPaused, nil},
		{AdmitAll, nil, nil},
	} {
		l.Admit(c.admits)
		<-l.Changed()
		for need, want := range map[Need]error{fresh: c.fresh, running: c.began} {
			if free := l.Free(need); (free > 0) != (want == nil) {
				t.Errorf("admission %d: %d free for %+v", c.admits, free, need)
			}
			s, err := l.Reserve(need, 0, nil)
			if !errors.Is(err, want) {
				t.Errorf("admission %d: %v for %+v, want %v", c.admits, err, need, want)
			}
			if err == nil {
				s.Release()
				<-l.Changed()
			}
		}
	}
}
