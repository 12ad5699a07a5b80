package web

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"sparring/arena"
	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
	"sparring/record"
	"sparring/screen/view"
)

// gameWait bounds how long a page waits for a game's log or record.
const gameWait = 5 * time.Second

// played is a game as its log or its record has it.
type played struct {
	id       protocol.GameID
	terms    protocol.Terms
	seats    [2]player
	ratings  [2]int // 0: none
	moves    []string
	turn     game.Seat
	finished bool
	outcome  game.Outcome
	started  time.Time
	left     [2]*time.Duration // on the clocks; nil without a limit, or unknown
	private  bool
}

// gamePage is the data of game.html.
type gamePage struct {
	ID                     protocol.GameID
	Title                  string
	Game, Rules, Clock     string
	Rated, Strict, Private bool
	Running                bool
	Started                time.Time
	Seats                  [2]gameSeat
	Result, RuleLink       string
	Board                  template.HTML
	Diagram, Position      string // as text
	Ply, Plies             int
	At                     string // which ply is shown, in words
	Steps                  []step
	Moves                  []moveLink
	Notations              []choiceLink
}

// gameSeat is a seat of a game.
type gameSeat struct {
	player
	Side, Left string
	Rating     string // empty: none
	ToAct      bool
}

// step leads to another ply. Key is that of its text, Link is empty where that is
// the ply shown.
type step struct{ Link, Key, Sign string }

// moveLink leads to the position after a move.
type moveLink struct {
	Number  int
	Text    string
	Link    string
	Current bool
}

// find reads a game from its log or, once that is gone, from its record.
func (s *Server) find(ctx context.Context, id protocol.GameID) (*played, error) {
	if protocol.CheckID("game", id) != nil {
		return nil, arena.ErrNoGame
	}
	ctx, cancel := context.WithTimeout(ctx, gameWait)
	defer cancel()
	e, _, err := s.arena.Game(ctx, id)
	if errors.Is(err, arena.ErrNoGame) {
		rec, err := s.arena.Record(ctx, id)
		if err != nil {
			return nil, err
		}
		return ofRecord(rec), nil
	}
	if err != nil {
		return nil, err
	}
	g := &played{id: e.Game, terms: e.Terms, moves: e.Moves, turn: e.Turn, finished: e.Status == protocol.Finished,
		outcome: e.Outcome, started: e.Started, left: clocks(e, time.Now()), private: private(e.Snapshot)}
	for i, h := range e.Holders {
		g.seats[i], g.ratings[i] = playerOf(h.Player, h.Display), h.Rating
	}
	return g, nil
}

// ofRecord returns a game as its record has it.
func ofRecord(rec *record.Record) *played {
	g := &played{id: protocol.GameID(rec.ID), finished: true, outcome: game.Outcome{Result: rec.Result, Reason: rec.Reason}, started: rec.Start,
		terms:   protocol.Terms{Game: rec.Game, Rules: rec.Rules, Position: rec.Position, Clock: rec.Clock, Rated: rec.Rated, Strict: rec.Strict, Private: rec.Private},
		private: arena.Unlisted(rec.Private, protocol.Kind(rec.Seats[0].Kind), protocol.Kind(rec.Seats[1].Kind))}
	for i, seat := range rec.Seats {
		g.seats[i] = playerOf(protocol.PlayerID(seat.Player), seat.Display)
		if seat.Before != nil {
			g.ratings[i] = int(seat.Before.Rating + .5)
		}
	}
	for _, ply := range rec.Plies {
		g.moves = append(g.moves, ply.Move)
		if rec.Clock.Kind != clock.Unlimited {
			left := time.Duration(ply.LeftMS) * time.Millisecond
			g.left[ply.Seat] = &left
		}
	}
	return g
}

// game shows a game at a ply, the last one if none is named.
func (s *Server) game(w http.ResponseWriter, r *http.Request) {
	g, err := s.find(r.Context(), protocol.GameID(r.PathValue("id")))
	switch {
	case errors.Is(err, arena.ErrNoGame):
		// It may be a challenge that waits: the script knows.
		s.page(w, r, http.StatusNotFound, "nogame.html", nil)
		return
	case err != nil:
		if !hasLeft(r) {
			s.log.Warn().Err(err).Msg("a game can't be read")
		}
		retryAfter(w, restFor)
		s.refuse(w, r, http.StatusServiceUnavailable, protocol.Unavailable, "the game can't be read now")
		return
	}
	ply := len(g.moves)
	if text := r.PathValue("ply"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > len(g.moves) {
			s.notFound(w, r)
			return
		}
		ply = n
	}
	data, err := describe(s.words(r), g, ply, game.Notation(r.URL.Query().Get("notation")))
	if err != nil {
		s.log.Error().Err(err).Str("game", string(g.id)).Msg("a game can't be shown")
		s.refuse(w, r, http.StatusInternalServerError, protocol.Unavailable, "the game can't be shown")
		return
	}
	if g.private {
		w.Header().Set("X-Robots-Tag", "noindex")
	}
	s.page(w, r, http.StatusOK, "game.html", data)
}

// describe makes the page of a game at a ply.
func describe(t words, g *played, ply int, notation game.Notation) (*gamePage, error) {
	end, err := setUp(g.terms, g.moves)
	if err != nil {
		return nil, err
	}
	at := end.Clone()
	for range len(g.moves) - ply {
		at.Undo()
	}
	p := &gamePage{ID: g.id, Game: t.Or("game."+g.terms.Game, g.terms.Game), Rules: t.Rules(g.terms.Rules), Clock: t.Clock(g.terms.Clock),
		Rated: g.terms.Rated, Strict: g.terms.Strict, Private: g.private, Running: !g.finished, Started: g.started.UTC(),
		Ply: ply, Plies: len(g.moves), Diagram: at.Diagram(), Position: at.String()}
	sides := [2]string{game.First.String(), game.Second.String()}
	if pictured, ok := end.(game.Pictured); ok {
		sides = pictured.Sides()
	}
	for i := range p.Seats {
		p.Seats[i] = gameSeat{player: t.named(g.seats[i]), Side: t.Side(sides[i]), ToAct: !g.finished && g.turn == game.Seat(i)}
		if g.ratings[i] != 0 {
			p.Seats[i].Rating = ratingText(float64(g.ratings[i]))
		}
		if g.left[i] != nil {
			p.Seats[i].Left = t.Left(*g.left[i])
		}
	}
	markAlike(&p.Seats[0].player, &p.Seats[1].player)
	p.Title = t.T("game.title", "game", p.Game, "first", isolated(p.Seats[0].Name), "second", isolated(p.Seats[1].Name))
	if g.finished {
		p.Result = t.Outcome(g.outcome, sides)
		if g.outcome.Reason == protocol.ReasonNoStart {
			p.Result = t.CalledOff(p.Seats[end.Turn()].Name)
		}
		p.RuleLink = t.ruleLink(g.terms.Game, g.outcome.Reason)
	}
	p.list(t, end, notation)
	p.At = t.T("game.of", "n", ply, "of", len(g.moves))
	if ply > 0 {
		p.At += ": " + p.Moves[ply-1].Text
	}
	v, err := view.Of(at)
	switch {
	case err == nil:
		p.Board = view.Picture(v, p.At)
	case !errors.Is(err, view.ErrNoPicture):
		return nil, err
	}
	return p, nil
}

// isolated keeps the direction of a name's letters from what stands around it,
// where there is no markup for that.
func isolated(name string) string { return "\u2068" + name + "\u2069" }

// list writes the moves, the links to them, and the notations to choose from.
func (p *gamePage) list(t words, end game.Position, chosen game.Notation) {
	list := view.Written(end)
	var names []game.Notation
	if n, ok := end.(game.Notated); ok {
		names = n.Notations()
	} else {
		names = []game.Notation{view.Plain}
	}
	if list[chosen] == nil {
		chosen = names[0]
		if usual := game.Notation("chinese"); t.Lang == "zh" && list[usual] != nil {
			chosen = usual
		}
	}
	address := "/game/" + url.PathEscape(string(p.ID))
	link := func(ply int, n game.Notation) string {
		return address + "/" + strconv.Itoa(ply) + "?notation=" + url.QueryEscape(string(n))
	}
	for i, text := range list[chosen] {
		p.Moves = append(p.Moves, moveLink{i + 1, t.Move(text), link(i+1, chosen), i+1 == p.Ply})
	}
	steps := []step{{Key: "page.first", Sign: "«"}, {Key: "page.back_one", Sign: "‹"}, {Key: "page.on_one", Sign: "›"}, {Key: "page.last", Sign: "»"}}
	for i, ply := range []int{0, p.Ply - 1, p.Ply + 1, p.Plies} {
		if i < 2 && p.Ply > 0 || i >= 2 && p.Ply < p.Plies {
			steps[i].Link = link(ply, chosen)
		}
	}
	p.Steps = steps
	for _, n := range names {
		if len(names) > 1 {
			p.Notations = append(p.Notations, choiceLink{t.Or("notation."+string(n), string(n)), link(p.Ply, n), n == chosen})
		}
	}
}
