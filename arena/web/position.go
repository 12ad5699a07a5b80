package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
	"sparring/screen/view"
)

// Bounds of a request for a view. The longest games of the three are shorter; the
// bound of moves holds the time of an answer to a few milliseconds.
const (
	maxPositionBody  = 32 << 10
	maxPositionMoves = 1500
)

// positionRequest asks for the view of the position after some moves.
type positionRequest struct {
	Rules    string   `json:"rules"`
	Position string   `json:"position"` // start position; "" is the usual one
	Moves    []string `json:"moves"`
	// Typed is one more move as a person writes it, in any notation of the game.
	Typed string `json:"typed"`
	// Touched are the points of a move that the page can't find among the legal
	// ones. The answer then says why the rules refuse it.
	Touched []string `json:"touched"`
}

// positionWhy answers a request with touched points.
type positionWhy struct {
	Why string `json:"why"` // key of a sentence; "" if nothing is wrong
}

// positionRefusal says what is wrong with a request, and at which move.
type positionRefusal struct {
	Code protocol.Code `json:"code"`
	Text string        `json:"text"`
	Ply  int           `json:"ply,omitempty"` // of the move at fault, from 1
}

// position answers with the view of a position, a [view.View].
func (s *Server) position(w http.ResponseWriter, r *http.Request) {
	var req positionRequest
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxPositionBody)).Decode(&req)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) || len(req.Moves) > maxPositionMoves {
		s.sendJSON(w, r, http.StatusRequestEntityTooLarge, positionRefusal{Code: protocol.TooLarge,
			Text: fmt.Sprintf("want at most %d bytes and %d moves", maxPositionBody, maxPositionMoves)})
		return
	}
	if err != nil {
		s.sendJSON(w, r, http.StatusBadRequest, positionRefusal{Code: protocol.Malformed, Text: "want an object with rules, position and moves"})
		return
	}
	answer, refused := viewOf(req)
	if refused != nil {
		s.sendJSON(w, r, http.StatusUnprocessableEntity, refused)
		return
	}
	s.sendJSON(w, r, http.StatusOK, answer)
}

// viewOf sets up the position and describes it.
func viewOf(req positionRequest) (answer any, refused *positionRefusal) {
	rules, err := catalog.Rules(req.Rules)
	if err != nil {
		return nil, &positionRefusal{Code: protocol.UnknownGame, Text: err.Error()}
	}
	p, err := rules.New(req.Position)
	if err != nil {
		return nil, &positionRefusal{Code: protocol.UnknownGame, Text: err.Error()}
	}
	for i, text := range req.Moves {
		if _, err := game.PlayText(p, text); err != nil {
			code := protocol.Illegal
			if errors.Is(err, game.ErrSyntax) {
				code = protocol.Malformed
			}
			return nil, &positionRefusal{Code: code, Text: err.Error(), Ply: i + 1}
		}
	}
	if req.Typed != "" {
		if err := playTyped(p, req.Typed); err != nil {
			return nil, &positionRefusal{Code: protocol.Illegal, Text: err.Error(), Ply: len(req.Moves) + 1}
		}
	}
	if len(req.Touched) > 0 {
		why, err := view.Why(p, req.Touched...)
		if err != nil {
			return nil, &positionRefusal{Code: protocol.Malformed, Text: err.Error()}
		}
		return positionWhy{why}, nil
	}
	v, err := view.Of(p)
	if err != nil {
		return nil, &positionRefusal{Code: protocol.UnknownGame, Text: err.Error()}
	}
	return v, nil
}

// setUp returns the position after some moves from the start position of the terms.
func setUp(terms protocol.Terms, moves []string) (game.Position, error) {
	rules, err := catalog.Rules(terms.Rules)
	if err != nil {
		return nil, err
	}
	return game.Replay(rules, terms.Position, moves)
}

// playTyped plays a move that is written in any notation of the game.
func playTyped(p game.Position, text string) error {
	_, err := game.PlayText(p, text)
	notated, ok := p.(game.Notated)
	if err == nil || !ok {
		return err
	}
	for _, n := range notated.Notations() {
		if m, wrong := notated.ParseIn(n, text); wrong == nil {
			return p.Play(m)
		}
	}
	return err
}

// gameRow is a game as the start page offers it.
type gameRow struct {
	Name    string    `json:"name"`
	Default string    `json:"default"`
	Sets    []ruleSet `json:"sets"`
}

// ruleSet is a rule set with its handicaps.
type ruleSet struct {
	Rules     string          `json:"rules"`
	Common    bool            `json:"common,omitempty"` // most games are played under it
	Procedure string          `json:"procedure,omitempty"`
	Handicaps []game.Handicap `json:"handicaps,omitempty"`
}

// gameSets lists the games with their rule sets and handicaps.
func (s *Server) gameSets(w http.ResponseWriter, r *http.Request) {
	rows, err := gameRows()
	if err != nil {
		s.log.Error().Err(err).Msg("games not listed")
		http.Error(w, "the games can't be listed", http.StatusInternalServerError)
		return
	}
	s.sendJSON(w, r, http.StatusOK, rows)
}

func gameRows() (rows []gameRow, err error) {
	for _, g := range catalog.Games() {
		row := gameRow{Name: g.Name, Default: g.Default}
		for _, name := range g.Sets {
			rules, err := g.Rules(name)
			if err != nil {
				return nil, err
			}
			set := ruleSet{Rules: name, Common: slices.Contains(g.Common, name)}
			p, err := rules.New("")
			if err != nil {
				return nil, err
			}
			if staged, ok := p.(game.Staged); ok {
				if stage, running := staged.Stage(); running {
					set.Procedure = stage.Procedure
				}
			}
			if g.Handicaps != nil {
				set.Handicaps = g.Handicaps(rules)
			}
			row.Sets = append(row.Sets, set)
		}
		rows = append(rows, row)
	}
	return rows, nil
}
