package match

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
	"sparring/record"
)

// Local plays the games in this process, with players that Open makes from their
// specs; an error of Open names the player. Each worker has players of its own, which
// are closed with it.
type Local struct {
	Open func(spec string) (engine.Searcher, error)
	// Winner, unless nil, is called after each move and returns the winner with
	// best play; ok is false if unknown. It may be called concurrently.
	Winner func(game.Position) (seat game.Seat, ok bool)
}

// Worker implements Backend.
func (l *Local) Worker(t *Terms) (Worker, error) {
	return &localWorker{Local: l, terms: t, pool: engine.NewPool(t.Threads), stalls: watchStalls(), players: make([]engine.Searcher, len(t.Players))}, nil
}

// localWorker has a pool to itself, which turns clocks into limits and decides
// the choices of opening procedures.
type localWorker struct {
	*Local
	terms   *Terms
	pool    *engine.Pool
	stalls  *stalls
	players []engine.Searcher // opened when first needed
}

// newGame opens a game for a player.
func (w *localWorker) newGame(player int, b Bout) (engine.Game, error) {
	if w.players[player] == nil {
		s, err := w.Open(w.terms.Players[player])
		if err != nil {
			return nil, err
		}
		w.players[player] = s
	}
	g, err := w.players[player].NewGame(engine.GameOptions{ID: b.ID, Rules: b.Position.Rules(), Seed: b.Seed, OwnTable: true})
	if err != nil {
		return nil, fmt.Errorf("player %s: %w", w.terms.Players[player], err)
	}
	return g, nil
}

// Close implements Worker.
func (w *localWorker) Close() {
	w.pool.Close()
	w.stalls.close()
	for _, p := range w.players {
		if p != nil {
			p.Close() // the error does not matter
		}
	}
}

// Play implements Worker. A game in which this process stalled is played again.
func (w *localWorker) Play(ctx context.Context, b Bout) (*Game, error) {
	return steadily(w.terms, func() time.Duration { return w.stalls.look(time.Now()) }, func() (*Game, error) { return w.play(ctx, b) })
}

// play plays a game once.
func (w *localWorker) play(ctx context.Context, b Bout) (*Game, error) {
	s := localGame{terms: w.terms, pool: w.pool, bout: b, pos: b.Position.Clone(), game: NewGame(w.terms, b), adjudicator: adjudicator{terms: w.terms}, winner: w.Winner}
	for seat, i := range b.Players {
		g, err := w.newGame(i, b)
		if err != nil {
			return nil, err
		}
		defer g.Close() // the error does not matter
		if !s.over {
			err := engine.Ready(ctx, g) // before its clock runs
			if fault, ok := errors.AsType[*engine.Fault](err); ok {
				s.lose(game.Seat(seat), fault)
			} else if err != nil {
				return nil, fmt.Errorf("player %s: %w", b.Names[seat], err)
			}
		}
		s.players[seat] = g
		s.limits[seat] = w.terms.LimitOf(i)
		s.game.describe(game.Seat(seat), g.Describe(), s.limits[seat])
		s.clocks[seat] = s.limits[seat].Clock.Start()
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	for !s.over {
		if err := s.turn(ctx); err != nil {
			return nil, err
		}
	}
	return s.game, nil
}

// localGame is a game under way.
type localGame struct {
	terms       *Terms
	bout        Bout
	pool        *engine.Pool
	players     [2]engine.Game
	pos         game.Position
	limits      [2]Limit
	clocks      [2]clock.State
	game        *Game
	adjudicator adjudicator
	winner      func(game.Position) (game.Seat, bool)
	offer       [2]bool // a draw, with the seat's last move
	over        bool
}

// open puts the opening's moves into the record.
func (s *localGame) open() error {
	rules := s.pos.Rules()
	p, err := rules.New(s.bout.Start)
	if err != nil {
		return fmt.Errorf("opening %d: %w", s.bout.Opening, err)
	}
	for _, text := range s.bout.Moves {
		seat := p.Turn()
		if _, err := game.PlayText(p, text); err != nil {
			return fmt.Errorf("opening %d: %w", s.bout.Opening, err)
		}
		s.game.Plies = append(s.game.Plies, record.Ply{
			Seat: seat, Move: text, Key: game.KeyText(p.Key()), Think: &record.Think{Source: record.FromBook},
		})
	}
	return nil
}

// turn lets the seat to act make its move.
func (s *localGame) turn(ctx context.Context) error {
	seat := s.pos.Turn()
	r, used, late, err := s.think(ctx, seat)
	var fault *engine.Fault
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &fault):
		s.lose(seat, fault)
		return nil
	case err != nil:
		return fmt.Errorf("game %s, ply %d, player %s: %w", s.game.ID, s.pos.Ply()+1, s.bout.Names[seat], err)
	}
	side := &s.game.Match.Sides[seat]
	spec := s.limits[seat].Clock
	after, inTime := side.Charge(spec, s.clocks[seat], used, s.terms.move(), s.terms.margin())
	if late && !spec.Traits().Limited {
		s.lose(seat, &engine.Fault{Kind: engine.FaultHang,
			Text: with(r.Incidents, "ply %d: no move after %v", s.pos.Ply()+1, s.terms.patience())})
		return nil
	}
	if late || !inTime {
		budget, _ := budgetOf(spec, s.clocks[seat], s.terms.move())
		s.lose(seat, &engine.Fault{Kind: engine.FaultTime,
			Text: with(r.Incidents, "ply %d took %v, with %v left and a margin of %v", s.pos.Ply()+1, round(used), round(budget), s.terms.margin())})
		return nil
	}
	s.clocks[seat] = after
	if r.Resign {
		s.end(game.Outcome{Result: game.WonBy(seat.Other()), Reason: protocol.ReasonResign}, "")
		return nil
	}
	s.move(seat, r, used)
	return nil
}

// with formats what a player lost by, and adds what else went wrong meanwhile: an error
// message may say why no move came.
func with(incidents []string, format string, args ...any) string {
	return strings.Join(append([]string{fmt.Sprintf(format, args...)}, incidents...), "; ")
}

// think asks the player for a move and stops it when its time is up. Its answer is
// then late.
func (s *localGame) think(ctx context.Context, seat game.Seat) (r search.Result, used time.Duration, late bool, err error) {
	limit := s.limits[seat]
	last, limited := budgetOf(limit.Clock, s.clocks[seat], s.terms.move())
	last += s.terms.margin()
	if !limited {
		last = s.terms.patience()
	}
	began := time.Now()
	request := engine.Request{
		Game: s.players[seat], Position: s.pos, Limits: search.Limits{Nodes: limit.Nodes, Depth: limit.Depth},
	}
	if limited {
		c := engine.Clock{Spec: limit.Clock, Mine: s.clocks[seat], Theirs: s.clocks[seat], At: began, MoveLimit: s.terms.move()}
		// An opponent without time to save counts as one with as much as the mover.
		if theirs := s.limits[seat.Other()].Clock; theirs.Traits().Saves {
			c.TheirSpec, c.Theirs = theirs, s.clocks[seat.Other()]
		}
		request.Clock = &c
	}
	run, err := s.pool.Start(request)
	if err != nil {
		return search.Result{}, 0, false, err
	}
	up := time.NewTimer(last)
	defer up.Stop()
	select {
	case <-run.Done():
	case <-up.C:
		late = true
		run.Stop()
	case <-ctx.Done():
		run.Stop()
	}
	r, err = run.Wait()
	return r, time.Since(began), late, err
}

// move plays what the player chose.
func (s *localGame) move(seat game.Seat, r search.Result, used time.Duration) {
	text, line := s.pos.Format(r.Move), game.FormatLine(s.pos, "", r.PV)
	err := error(game.ErrIllegal)
	if r.Move != game.NoMove {
		err = s.pos.Play(r.Move)
	}
	if err != nil {
		s.lose(seat, &engine.Fault{Kind: engine.FaultIllegal, Text: fmt.Sprintf("ply %d, move %#x in %s: %v", s.pos.Ply()+1, uint32(r.Move), s.pos, err)})
		return
	}
	side := &s.game.Match.Sides[seat]
	side.Moves++
	side.Nodes += r.Nodes
	side.AddDepth(r.Depth, r.Score)
	chance := r.WinProb
	if r.Source == search.FromExternal && !r.Judges() {
		chance = 0 // unknown: the program has said nothing about its move
	}
	s.game.Plies = append(s.game.Plies, record.Ply{
		Seat: seat, Move: text, UsedMS: used.Milliseconds(), LeftMS: s.clocks[seat].Left.Milliseconds(), Periods: s.clocks[seat].Periods,
		Key: game.KeyText(s.pos.Key()),
		Think: &record.Think{
			Source: record.SourceOf(r.Source), Depth: r.Depth, SelDepth: r.SelDepth, Score: int(r.Score),
			WinProb: chance, Nodes: r.Nodes, TimeMS: used.Milliseconds(), PV: line,
		},
		Comment: strings.Join(r.Incidents, "; "),
	})
	s.offer[seat] = r.OfferDraw
	out := s.pos.Outcome()
	if !out.Over() {
		out = s.adjudicator.update(seat, r, s.pos.Ply())
	}
	if !out.Over() && s.winner != nil {
		if won, ok := s.winner(s.pos); ok {
			out = game.Outcome{Result: game.WonBy(won), Reason: ReasonTablebase}
		}
	}
	if !out.Over() && s.offer[game.First] && s.offer[game.Second] {
		out = game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement}
	}
	if !out.Over() && len(s.game.Plies) >= record.MaxPlies {
		out = game.Outcome{Result: game.Draw, Reason: ReasonMaxPlies} // the limit of records
	}
	if out.Over() {
		s.end(out, s.terms.explain(out.Reason, s.pos.Ply()))
	}
}

func (s *localGame) lose(seat game.Seat, f *engine.Fault) {
	s.game.Lose(seat, f)
	s.over = true
}

func (s *localGame) end(o game.Outcome, text string) {
	s.game.End(o, text)
	s.over = true
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
