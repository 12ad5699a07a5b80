package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sparring/internal/diskspace"
	"sparring/internal/texttable"
	"sparring/protocol"
)

// fleetView is what is known of a fleet at a time.
type fleetView struct {
	Time    time.Time         `json:"time"`
	Reports []protocol.Report `json:"processes"`
	// Silent are the bot processes that an arena knows and that do not answer.
	Silent []protocol.KnownInstance `json:"silent"`
	// SilentArenas are the arenas that another one knows and that do not answer.
	SilentArenas []protocol.SilentArena `json:"silent_arenas,omitempty"`
	// Others are instances of bots that never answer the operator: of other people, or
	// of builds before that was possible.
	Others []protocol.KnownInstance `json:"others"`
}

// quiet is how long nothing may have come before the reports are taken to be complete.
const quiet = 200 * time.Millisecond

// freshHeartbeat is how old the last message of a process may be whose report is waited
// for at all costs.
const freshHeartbeat = 5 * time.Second

// look asks all processes for their reports. If some of those that an arena knows do
// not answer, it takes as long as the timeout.
func (f *fleetFlags) look(ctx context.Context, op *protocol.Operator) (fleetView, error) {
	within, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	n, last := 0, time.Now()
	reports, err := op.Reports(within, func(all []protocol.Report) bool {
		if len(all) > n {
			n, last = len(all), time.Now()
		}
		view := fleetViewOf(all)
		hasArena := slices.ContainsFunc(all, func(r protocol.Report) bool { return r.Arena != nil })
		return hasArena && time.Since(last) >= quiet &&
			!slices.ContainsFunc(view.Silent, func(k protocol.KnownInstance) bool { return k.HeardMS < freshHeartbeat.Milliseconds() })
	})
	switch {
	case ctx.Err() != nil:
		return fleetView{}, context.Cause(ctx)
	case err != nil:
		return fleetView{}, err
	case len(reports) == 0:
		return fleetView{}, fmt.Errorf("no process of a fleet answered within %v", f.timeout)
	}
	return fleetViewOf(reports), nil
}

// fleetViewOf sorts reports, and compares them with the instances that the arenas know.
func fleetViewOf(reports []protocol.Report) fleetView {
	v := fleetView{Time: time.Now().UTC(), Reports: slices.Clone(reports), Silent: []protocol.KnownInstance{}, Others: []protocol.KnownInstance{}}
	slices.SortFunc(v.Reports, func(x, y protocol.Report) int {
		return cmp.Or(cmp.Compare(y.Process, x.Process), cmp.Compare(x.Instance, y.Instance)) // bots first
	})
	answered, arenas := make(map[protocol.InstanceID]bool), make(map[protocol.InstanceID]bool)
	for _, r := range reports {
		answered[r.Instance] = answered[r.Instance] || r.Bot != nil
		arenas[r.Instance] = arenas[r.Instance] || r.Arena != nil
	}
	lost := make(map[protocol.InstanceID]protocol.SilentArena)
	known := make(map[protocol.InstanceID]protocol.KnownInstance)
	for _, r := range reports {
		if r.Arena == nil {
			continue
		}
		for _, k := range r.Arena.Instances { // one arena may have heard of it later than another
			if old, seen := known[k.Instance]; !answered[k.Instance] && (!seen || k.HeardMS < old.HeardMS) {
				known[k.Instance] = k
			}
		}
		for _, s := range r.Arena.SilentArenas {
			if old, seen := lost[s.Instance]; !arenas[s.Instance] && (!seen || s.HeardMS < old.HeardMS) {
				lost[s.Instance] = s
			}
		}
	}
	v.SilentArenas = slices.SortedFunc(maps.Values(lost), func(x, y protocol.SilentArena) int { return cmp.Compare(x.Instance, y.Instance) })
	for _, k := range known {
		if k.Fleet {
			v.Silent = append(v.Silent, k)
		} else {
			v.Others = append(v.Others, k)
		}
	}
	byID := func(x, y protocol.KnownInstance) int { return cmp.Compare(x.Instance, y.Instance) }
	slices.SortFunc(v.Silent, byID)
	slices.SortFunc(v.Others, byID)
	return v
}

// bots returns the reports of bot processes.
func (v fleetView) bots() []protocol.Report {
	return slices.DeleteFunc(slices.Clone(v.Reports), func(r protocol.Report) bool { return r.Bot == nil })
}

// lines returns the view as tables, a line each. Before is an earlier view of the same
// fleet, for what changes in time; nil: none.
func (v fleetView) lines(before *fleetView) []string {
	earlier := make(map[protocol.InstanceID]*protocol.Report)
	if before != nil {
		for i, r := range before.Reports {
			earlier[r.Instance] = &before.Reports[i]
		}
	}
	var t fleetText
	t.bots.Add("BOT", "MODE", "GAMES", "LEVELS", "LOAD", "SEARCHES", "MOVES/S", "OVERHEAD ms", "TIME LOSSES", "SEATS LOST", "FAULTS", "PLAYERS", "UP", "HOST", "BUILD")
	t.arenas.Add("ARENA", "MODE", "GAMES", "OF ALL", "MOVES/S", "ENDED", "SEAT CHANGES", "TAKEOVERS", "DROPPED", "UNKEPT", "FAULTS", "UP", "HOST", "BUILD")
	for _, r := range v.Reports {
		t.addSpace(r)
		up := shortTime(v.Time.Sub(r.Started))
		if r.Bot != nil {
			t.addBot(r, earlier[r.Instance], up)
		}
		if r.Arena != nil {
			t.addArena(r, earlier[r.Instance], up)
		}
	}
	t.addSilent(v)
	t.addRoom(v)
	t.addOthers(v.Others)
	var text strings.Builder
	for _, t := range []texttable.Table{t.bots, t.arenas} {
		if len(t) > 1 {
			t.Write(&text) // a Builder returns no error
			text.WriteString("\n")
		}
	}
	lines := append(t.alarms, strings.Split(strings.TrimRight(text.String(), "\n"), "\n")...)
	if len(t.arenas) == 1 {
		t.notes = append(t.notes, "no arena answers: processes that hang are not known")
	}
	return append(lines, t.notes...)
}

// fleetText is the text of a view: alarms, tables, notes.
type fleetText struct {
	bots, arenas  texttable.Table
	alarms, notes []string
}

func (t *fleetText) alarm(format string, args ...any) {
	t.alarms = append(t.alarms, fmt.Sprintf(format, args...))
}

func (t *fleetText) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// addSpace warns of what will soon be full.
func (t *fleetText) addSpace(r protocol.Report) {
	for _, s := range r.Space {
		if s.Low {
			t.alarm("%s: SPACE RUNS OUT: %s", r.Instance, diskspace.Level{Of: s.Of, Used: s.Used, Most: max(s.Most, 1), FullIn: time.Duration(s.FullInMS) * time.Millisecond})
		}
	}
}

// addBot adds a bot process. Earlier is a report of the same instance; nil: none.
func (t *fleetText) addBot(r protocol.Report, earlier *protocol.Report, up string) {
	b := r.Bot
	overhead := "-"
	if b.Overhead.Moves > 0 {
		overhead = fmt.Sprintf("%d/%d/%d", b.Overhead.P50MS, b.Overhead.P95MS, b.Overhead.P99MS)
	}
	t.bots.Add(r.Instance, r.Mode, fmt.Sprintf("%d/%d", b.Games, b.Slots), fmt.Sprintf("%d/%d", b.LevelGames, b.LevelSlots),
		fmt.Sprintf("%.0f%% of %d", 100*b.Load, b.Cores), fmt.Sprintf("%d+%d", b.Thinking, b.Waiting),
		perSecond(r, earlier, func(r protocol.Report) int64 { return r.Bot.Moves }), overhead, b.LostOnTime, b.SeatsLost, b.Faults, b.PlayerCount, up, hostOf(r), r.Build)
	if r.Text != "" {
		t.note("%s is %s: %s", r.Instance, r.Mode, r.Text)
	}
	if b.Offered != nil {
		t.alarm("%s: searches start late (%d of %d so far): it offers %d of %d slots, and does not ponder", r.Instance, b.StartedLate, b.Started, *b.Offered, b.Slots)
	}
	if b.LastFault != "" {
		t.note("%s, last fault: %s", r.Instance, b.LastFault)
	}
}

// addArena is addBot for an arena.
func (t *fleetText) addArena(r protocol.Report, earlier *protocol.Report, up string) {
	a := r.Arena
	t.arenas.Add(r.Instance, r.Mode, a.Refereed, a.Running, perSecond(r, earlier, func(r protocol.Report) int64 { return r.Arena.Moves }), a.Ended,
		a.SeatChanges, a.Takeovers, a.Dropped, a.Unkept, a.Faults, up, hostOf(r), r.Build)
	if a.Omitted > 0 {
		t.note("%s knows %s", r.Instance, count(a.Omitted, "more instance", "more instances"))
	}
}

// addRoom warns of vacant seats, and notes how many losses of processes leave each seat a slot.
func (t *fleetText) addRoom(v fleetView) {
	vacant, survives := 0, -1
	for _, r := range v.Reports {
		if r.Arena == nil {
			continue
		}
		vacant += r.Arena.Vacant
		if n := r.Arena.Survives; n != nil && (survives < 0 || *n < survives) {
			survives = *n
		}
	}
	if vacant > 0 {
		t.alarm("%s vacant", count(vacant, "seat of running games is", "seats of running games are"))
	}
	switch {
	case survives == 0:
		t.note("the loss of a bot process would leave seats without a free slot: others would take them beyond their slots, if their players have others")
	case survives > 0:
		t.note("every seat has a free slot elsewhere if any %s lost", count(survives, "bot process is", "bot processes are"))
	}
}

// addSilent warns of the processes that do not answer.
func (t *fleetText) addSilent(v fleetView) {
	for _, k := range v.Silent {
		t.alarm("%s DOES NOT ANSWER: %s, last heard %s ago, %s", k.Instance, ofPlayers(k), ago(k.HeardMS), count(k.Games, "seat", "seats"))
	}
	for _, s := range v.SilentArenas {
		t.alarm("arena %s DOES NOT ANSWER: last heard %s ago", s.Instance, ago(s.HeardMS))
	}
}

// startsWithin is how long a process may take from its first message until it answers the operator.
const startsWithin = 15 * time.Second

// addOthers notes the instances that are not of the fleet.
func (t *fleetText) addOthers(others []protocol.KnownInstance) {
	for i, k := range others {
		if i == maxOthers {
			t.note("and %s like it", count(len(others)-i, "instance", "instances"))
			break
		}
		what := "is not of the fleet, or of a build that does not answer the operator"
		if k.KnownMS > 0 && k.KnownMS < startsWithin.Milliseconds() {
			what = "has just started, or is not of the fleet"
		}
		t.note("%s %s: %s, last heard %s ago, %s, %s", k.Instance, what, ofPlayers(k), ago(k.HeardMS), count(k.Games, "seat", "seats"), cmp.Or(k.Build, "unknown build"))
	}
}

// hostOf says where a process runs.
func hostOf(r protocol.Report) string { return fmt.Sprintf("%s:%d", r.Host, r.PID) }

// perSecond returns what was counted a second since an earlier report; "-" if there is none
// of the same process.
func perSecond(r protocol.Report, earlier *protocol.Report, count func(protocol.Report) int64) string {
	if earlier == nil || !earlier.Started.Equal(r.Started) || earlier.Process != r.Process {
		return "-"
	}
	span := r.ServerTime.Sub(earlier.ServerTime).Seconds()
	if span <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(count(r)-count(*earlier))/span)
}

// maxOthers is how many instances are listed that are not of the fleet.
const maxOthers = 20

// ofPlayers names the players of an instance.
func ofPlayers(k protocol.KnownInstance) string {
	if k.Players == 1 {
		return string(k.Player)
	}
	return fmt.Sprintf("%s and %s", k.Player, count(k.Players-1, "other player", "other players"))
}

// ago formats the time since somebody was heard.
func ago(ms int64) string { return shortTime(time.Duration(ms) * time.Millisecond) }

// shortTime formats a time for a column: 12s, 5m, 3h, 9d.
func shortTime(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0fm", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0fh", d.Hours())
	}
	return fmt.Sprintf("%.0fd", d.Hours()/24)
}
