package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"sparring/arena"
	"sparring/game"
	"sparring/protocol"
	"sparring/record"
)

// shownFinished is how many finished games a page about a player has. Each costs the
// reading of a record.
const shownFinished = 20

// playerPage is the data of player.html.
type playerPage struct {
	player
	Own       bool // the visitor's
	Standings []standingRow
	Running   liveRows
	Finished  []finishedRow
	Previous  string
	Next      string
}

// standingRow is where a player stands in one game and speed.
type standingRow struct {
	ladderRow
	Of                int // players
	Game, Speed, Link string
}

// finishedRow is a finished game as one of its players sees it.
type finishedRow struct {
	Link, Game, Rules, Clock string
	Rated                    bool
	Plies                    int
	Result                   string // key of the text
	Won                      bool
	Opponent                 *player // nil: somebody whose account is gone
	How                      string
	Ended                    time.Time
}

// player shows who a player is, the ratings, and the games.
func (s *Server) player(w http.ResponseWriter, r *http.Request) {
	id := protocol.PlayerID(r.PathValue("id"))
	if protocol.CheckID("player", id) != nil {
		s.noPlayer(w, r)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), gameWait)
	defer cancel()
	own := false
	if p, err := s.session(r); err == nil { // without one, or without the store, it is a stranger
		own = p.ID == id
	}
	games, err := s.arena.FinishedGames(ctx, id)
	if err == nil {
		var data *playerPage
		data, err = s.describePlayer(ctx, s.words(r), id, own, games, place(r.URL.Query().Get("from")))
		if err == nil {
			if id.Person() {
				w.Header().Set("X-Robots-Tag", "noindex")
			}
			s.page(w, r, http.StatusOK, "player.html", data)
			return
		}
	}
	if errors.Is(err, errNobody) {
		s.noPlayer(w, r)
		return
	}
	if !hasLeft(r) {
		s.log.Warn().Err(err).Str("player", string(id)).Msg("a player can't be shown")
	}
	retryAfter(w, restFor)
	s.refuse(w, r, http.StatusServiceUnavailable, protocol.Unavailable, "the player can't be shown now")
}

func (s *Server) noPlayer(w http.ResponseWriter, r *http.Request) {
	s.page(w, r, http.StatusNotFound, "noplayer.html", nil)
}

// describePlayer makes the page of a player with the finished games from a place on. It
// returns errNobody if there is no such player.
func (s *Server) describePlayer(ctx context.Context, t words, id protocol.PlayerID, own bool, games []arena.FinishedGame, from int) (*playerPage, error) {
	standings, running := s.arena.StandingsOf(id), s.arena.RunningOf(id)
	name, err := s.nameOf(ctx, id, standings, running, games)
	if err != nil {
		return nil, err
	}
	p := &playerPage{player: t.named(player{ID: id, Name: name}), Own: own}
	for _, st := range standings {
		link := ladderLink(st.Game, st.Speed, firstShown(st.Rank))
		p.Standings = append(p.Standings, standingRow{rowOf(t, st.Standing, st.Rank), st.Of, t.Or("game."+st.Game, st.Game), t.T("speed." + string(st.Speed)), link})
	}
	listed := func(e protocol.Event) bool { return own || !private(e.Snapshot) }
	p.Running = liveList(t, running, time.Now(), listed)
	if !own {
		games = slices.DeleteFunc(games, func(g arena.FinishedGame) bool { return g.Unlisted })
	}
	link := func(from int) string { return playerLink(id) + "?from=" + strconv.Itoa(from) }
	from = max(1, min(from, len(games)))
	if from > 1 {
		p.Previous = link(max(1, from-shownFinished))
	}
	for i, g := range games[min(from-1, len(games)):] {
		if len(p.Finished) == shownFinished {
			p.Next = link(from + i)
			break
		}
		rec, err := s.arena.FinishedRecord(ctx, g)
		switch {
		case errors.Is(err, arena.ErrNoGame): // the record was removed, or erased with the other player
			continue
		case errors.Is(err, record.ErrInvalid) || errors.Is(err, record.ErrVersion):
			s.log.Error().Err(err).Msg("a finished game is not shown")
			continue
		case err != nil:
			return nil, err
		}
		row, err := s.finished(ctx, t, rec, id)
		if err != nil {
			return nil, err
		}
		p.Finished = append(p.Finished, row)
	}
	shown := []*player{&p.player}
	for _, row := range p.Finished {
		if row.Opponent != nil {
			shown = append(shown, row.Opponent)
		}
	}
	markAlike(shown...)
	return p, nil
}

// nameOf returns the display name of a player: a person's from the account, a program's as
// it calls itself now or did last.
func (s *Server) nameOf(ctx context.Context, id protocol.PlayerID, standings []arena.RankedStanding, running []protocol.Event, games []arena.FinishedGame) (string, error) {
	if id.Person() {
		a, err := s.people.get(ctx, id)
		return a.Name, err
	}
	known := len(standings)+len(running)+len(games) > 0
	name := ""
	for _, in := range s.arena.Instances() {
		if in.Player == id {
			known, name = true, cmp.Or(name, in.Hello.Display)
		}
	}
	for _, e := range slices.Backward(running) {
		if seat, ok := seatOf(&e.Snapshot, id); ok {
			name = cmp.Or(name, e.Holders[seat].Display)
		}
	}
	for _, st := range standings {
		name = cmp.Or(name, st.Display)
	}
	if !known {
		return "", errNobody
	}
	return cmp.Or(name, string(id)), nil
}

// finished describes a game for the page of one of its players.
func (s *Server) finished(ctx context.Context, t words, rec *record.Record, id protocol.PlayerID) (finishedRow, error) {
	seat := game.First
	if protocol.PlayerID(rec.Seats[game.First].Player) != id {
		seat = game.Second
	}
	row := finishedRow{Link: "/game/" + url.PathEscape(rec.ID), Game: t.Or("game."+rec.Game, rec.Game), Rules: t.Rules(rec.Rules), Clock: t.Clock(rec.Clock),
		Rated: rec.Rated, Plies: len(rec.Plies), Result: "player.none", Ended: rec.End.UTC()}
	switch rec.Result {
	case game.WonBy(seat):
		row.Result, row.Won = "player.won", true
	case game.WonBy(seat.Other()):
		row.Result = "player.lost"
	case game.Draw:
		row.Result = "player.drawn"
	}
	var names [2]string
	for i, of := range rec.Seats {
		p := playerOf(protocol.PlayerID(of.Player), of.Display)
		if p.ID.Person() {
			a, err := s.people.get(ctx, p.ID)
			switch {
			case errors.Is(err, errNobody): // lists don't say whom nobody is any more
				p.ID, p.Name = "", t.T("player.gone")
			case err != nil:
				return row, err
			default:
				p.Name = a.Name
			}
		}
		p = t.named(p)
		if names[i] = isolated(p.Name); game.Seat(i) != seat && p.ID != "" {
			row.Opponent = &p
		}
	}
	row.How = t.Outcome(game.Outcome{Result: rec.Result, Reason: rec.Reason}, names)
	if rec.Reason == protocol.ReasonNoStart {
		g := ofRecord(rec)
		end, err := setUp(g.terms, g.moves)
		if err != nil {
			return row, err
		}
		row.How = t.CalledOff(names[end.Turn()])
	}
	return row, nil
}

// playerLink is the address of a player's page.
func playerLink(id protocol.PlayerID) string { return "/player/" + url.PathEscape(string(id)) }
