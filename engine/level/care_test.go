package level

import (
	"fmt"
	"testing"

	"sparring/engine"
	"sparring/engine/search"
	xiangqisearch "sparring/engine/xiangqi"
	"sparring/game"
	"sparring/game/gomoku"
	"sparring/game/xiangqi"
)

// situations plays games of weak levels, which leave much to be found, and calls
// yield at every position with a copy that yield may change.
func situations(t *testing.T, gameName string, games int, yield func(p game.Position, seed uint64)) {
	t.Helper()
	var players [2]engine.Searcher
	for i := range players {
		s, err := New(gameName, 2+i, nil)
		if err != nil {
			t.Fatal(err)
		}
		players[i] = s
	}
	for seed := range uint64(games) {
		p := opened(t, gameName, 6, seed)
		for !p.Outcome().Over() && p.Ply() < maxPlies {
			yield(p.Clone(), seed)
			if err := p.Play(think(t, players[p.Turn()], seed, p, search.Limits{}).Move); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// wins returns the moves that win at once, by the rules.
func wins(t *testing.T, p game.Position) (won []game.Move) {
	t.Helper()
	me := p.Turn()
	for _, m := range p.Legal(nil) {
		if err := p.Play(m); err != nil {
			t.Fatal(err)
		}
		if p.Outcome().Result == game.WonBy(me) {
			won = append(won, m)
		}
		p.Undo()
	}
	return won
}

// upper returns the searchers of the upper five levels.
func upper(t *testing.T, gameName string) map[int]engine.Searcher {
	t.Helper()
	all := map[int]engine.Searcher{}
	for n := 6; n <= Strongest; n++ {
		s, err := New(gameName, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		all[n] = s
	}
	return all
}

// TestUpperLevelsSeeOnePly checks that the upper levels win at once whenever the
// rules say that they can, and don't let the opponent win at once if they can
// prevent it.
func TestUpperLevelsSeeOnePly(t *testing.T) {
	for name, games := range map[string]int{"xiangqi": 3, "gomoku": 6, "amazons": 18} {
		t.Run(name, func(t *testing.T) {
			players := upper(t, name)
			winnable, threatened := 0, 0
			situations(t, name, games, func(p game.Position, seed uint64) {
				won := wins(t, p)
				switch {
				case len(won) > 0:
					winnable++
				case !lastPlies(t, p):
					return
				default:
					threatened++
				}
				// Fewer nodes than any level has: care must not depend on the search.
				l := search.Limits{Nodes: 100}
				for n, s := range players {
					text := p.String()
					m := think(t, s, seed, p, l).Move
					if err := p.Play(m); err != nil {
						t.Fatalf("%s: %v", text, err)
					}
					out := p.Outcome()
					if len(won) > 0 && out.Result != game.WonBy(p.Turn().Other()) && len(won) > 0 {
						p.Undo()
						t.Errorf("level %d plays %s and misses %s in %s", n, p.Format(m), p.Format(won[0]), text)
						continue
					}
					handed := !out.Over() && len(wins(t, p)) > 0
					p.Undo()
					if handed {
						t.Errorf("level %d plays %s, after which the other side wins at once, in %s", n, p.Format(m), text)
					}
				}
			})
			if winnable < 5 || threatened < 3 {
				t.Errorf("only %d positions with a win and %d with a threat", winnable, threatened)
			}
			t.Logf("%d positions with a win in one, %d with one to be stopped", winnable, threatened)
		})
	}
}

// lastPlies reports whether some of the moves let the opponent win at once, and some
// do not.
func lastPlies(t *testing.T, p game.Position) bool {
	t.Helper()
	handing, safe := 0, 0
	legal := p.Legal(nil)
	if len(legal) > 400 {
		return false // Amazons, long before its end
	}
	for _, m := range legal {
		if err := p.Play(m); err != nil {
			t.Fatal(err)
		}
		if len(wins(t, p)) > 0 {
			handing++
		} else if !p.Outcome().Over() {
			safe++
		}
		p.Undo()
		if handing > 0 && safe > 0 {
			return true
		}
	}
	return false
}

// pieceValue has the values of static exchange evaluation. Losing more than a pawn
// counts as giving a piece away.
var pieceValue = [xiangqi.Kinds]search.Score{xiangqi.Advisor: 170, xiangqi.Elephant: 160,
	xiangqi.Horse: 450, xiangqi.Rook: 1000, xiangqi.Cannon: 450, xiangqi.Pawn: 90}

const piece search.Score = 160

// left returns what the side that has just moved loses to the best plain capture.
func left(t *testing.T, p *xiangqi.Position) search.Score {
	t.Helper()
	adapter, err := xiangqisearch.New(p)
	if err != nil {
		t.Fatal(err)
	}
	adapter.Enter()
	exchange := adapter.(search.StaticExchanger)
	var worst search.Score
	for _, m := range p.Board().Captures(nil) {
		for worst < pieceValue[p.Board().At(xiangqi.To(m)).Kind()] && exchange.SEE(m, worst+10) {
			worst += 10
		}
	}
	return worst
}

// kept returns what a move captures, less what it then loses to a plain capture,
// kings included.
func kept(t *testing.T, p *xiangqi.Position, m game.Move) search.Score {
	t.Helper()
	gain := pieceValue[p.Board().At(xiangqi.To(m)).Kind()]
	if err := p.Play(m); err != nil {
		t.Fatal(err)
	}
	defer p.Undo()
	if p.Outcome().Over() {
		return gain
	}
	if len(wins(t, p)) > 0 {
		return gain - search.Win
	}
	return gain - left(t, p)
}

// TestUpperLevelsKeepTheirPieces checks that the upper levels don't lose a piece to
// a plain capture if a move keeps it. The uppermost two may sacrifice one if a search
// of many more nodes agrees.
func TestUpperLevelsKeepTheirPieces(t *testing.T) {
	players := upper(t, "xiangqi")
	judge, err := engine.New("xiangqi", engine.Options{HashBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	hanging, offered := 0, 0
	situations(t, "xiangqi", 3, func(pos game.Position, seed uint64) {
		p := pos.(*xiangqi.Position)
		safest, best, worst := game.NoMove, -search.Infinity, search.Infinity
		for _, m := range p.Legal(nil) {
			k := kept(t, p, m)
			if worst = min(worst, k); k > best {
				safest, best = m, k
			}
		}
		if p.Ply()%3 != 0 || best-worst < piece || best < -search.Win/2 || len(wins(t, p)) > 0 {
			return // nothing to keep, or the game is lost with all moves, or won
		}
		hanging++
		for n, s := range players {
			trusted := n > 8
			if trusted && hanging%10 != 0 {
				continue // these are slow
			}
			m := think(t, s, seed, p, search.Limits{}).Move
			if kept(t, p, m) > best-piece {
				continue
			}
			given := fmt.Sprintf("level %d plays %s and leaves %d in %s; %s keeps it", n, p.Format(m), best-kept(t, p, m), p, p.Format(safest))
			if !trusted {
				t.Error(given)
				continue
			}
			offered++
			r := think(t, judge, seed, p, search.Limits{Nodes: 200000, MultiPV: 2, Moves: []game.Move{m, safest}})
			if lost := r.WinProb < 0.01; !lost && len(r.Lines) == 2 && r.Move != m && r.Lines[0].Score-r.Lines[1].Score >= piece {
				t.Errorf("%s, %d instead of %d", given, r.Lines[0].Score, r.Lines[1].Score)
			}
		}
	})
	if hanging < 50 {
		t.Errorf("only %d positions in which a piece can be given away", hanging)
	}
	t.Logf("%d positions in which a piece can be given away; %d times one was offered for more", hanging, offered)
}

// makes counts the points where colour c, to move next, makes the given kind: a
// straight four, any four, or five.
func makes(p *gomoku.Position, c gomoku.Colour, kind gomoku.Kind) (n int) {
	b, table := p.Board(), gomoku.TableOf(p.Set().Line(c))
	for _, m := range p.Legal(nil) {
		at, _ := b.MovePoint(m)
		for d := range gomoku.Direction(gomoku.Directions) {
			if table.Kind(b.Window(at, d), c) >= kind {
				n++
				break
			}
		}
	}
	return n
}

// TestUpperLevelsStopOpenThrees checks that the upper levels answer an open three
// unless they can make a four.
func TestUpperLevelsStopOpenThrees(t *testing.T) {
	players := upper(t, "gomoku")
	judge, err := engine.New("gomoku", engine.Options{HashBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	threes := 0
	situations(t, "gomoku", 20, func(pos game.Position, seed uint64) {
		p := pos.(*gomoku.Position)
		me := p.ToMove()
		if makes(p, me, gomoku.Four) > 0 || makes(p, me.Other(), gomoku.FiveRow) > 0 || makes(p, me.Other(), gomoku.StraightFour) == 0 {
			return
		}
		stoppable := false
		for _, m := range p.Legal(nil) {
			if err := p.Play(m); err != nil {
				t.Fatal(err)
			}
			stoppable = stoppable || makes(p, me.Other(), gomoku.StraightFour) == 0
			p.Undo()
		}
		if !stoppable {
			return
		}
		// In a lost position every move is as good.
		if r := think(t, judge, seed, p, search.Limits{Nodes: 20000}); r.WinProb < 0.1 {
			return
		}
		threes++
		for n, s := range players {
			m := think(t, s, seed, p, search.Limits{Nodes: 4000}).Move
			if err := p.Play(m); err != nil {
				t.Fatal(err)
			}
			ignored := makes(p, me.Other(), gomoku.StraightFour) > 0
			p.Undo()
			if ignored {
				t.Errorf("level %d leaves the open three alone with %s in %s", n, p.Format(m), p)
			}
		}
	})
	if threes < 10 {
		t.Errorf("only %d positions with an open three", threes)
	}
	t.Logf("%d positions with an open three to be stopped", threes)
}
