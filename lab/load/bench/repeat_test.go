package bench

import (
	"slices"
	"sync"
	"testing"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
)

// found is the part of a search's result that a repetition must reproduce.
type found struct {
	Move  game.Move
	Score search.Score
	Nodes uint64
	PV    []game.Move
}

func (f found) equal(g found) bool {
	return f.Move == g.Move && f.Score == g.Score && f.Nodes == g.Nodes && slices.Equal(f.PV, g.PV)
}

// adapted has a game's bench positions, for the kernel.
type adapted struct {
	name      string
	params    search.Params
	positions []search.Position
}

func adapt(t *testing.T) (all []adapted) {
	for _, g := range catalog.Games() {
		a, err := suite(g.Name)
		if err != nil {
			t.Fatal(err)
		}
		s := adapted{name: a.Game, params: a.Params()}
		for _, text := range a.Bench.Positions {
			p, err := catalog.Setup(a.Game, a.Bench.Rules, text)
			if err != nil {
				t.Fatal(err)
			}
			pos, err := a.New(p)
			if err != nil {
				t.Fatal(err)
			}
			s.positions = append(s.positions, pos)
		}
		all = append(all, s)
	}
	return all
}

func (s *adapted) kernel() *search.Kernel { return search.New(s.params, search.NewTable(1<<14)) }

func find(g *search.Game, p search.Position, l search.Limits) found {
	r := g.Start(p, l, nil).Wait()
	return found{r.Move, r.Score, r.Nodes, r.PV}
}

// twoQuiets returns two of a position's quiet moves.
func twoQuiets(p search.Position) (two []game.Move) {
	p = p.Clone()
	p.Enter()
	var c search.Cursor
	for batch := p.Moves(nil, &c); len(batch) > 0; batch = p.Moves(batch, &c) {
		for _, m := range batch {
			if m.Noise == search.Quiet && len(two) < 2 {
				two = append(two, m.Move)
			}
		}
	}
	return two
}

var fixed = search.Limits{Nodes: 3000}

const ownTable = 1 << 20

// TestSearchesRepeat: a search with fixed nodes has the same result on a new kernel,
// after another search, after an interrupted one, and in the next game.
func TestSearchesRepeat(t *testing.T) {
	for _, s := range adapt(t) {
		t.Run(s.name, func(t *testing.T) {
			for i, p := range s.positions {
				alone := func(l search.Limits) found {
					return find(s.kernel().NewGame(search.GameOptions{Table: search.NewTable(ownTable)}), p, l)
				}
				want := alone(fixed)
				// With few moves to choose from, a search takes longer to
				// overwrite what an earlier one may have left behind.
				few := fixed
				few.Moves = twoQuiets(p)
				wantFew := alone(few)
				k := s.kernel()
				other := s.positions[(i+1)%len(s.positions)]
				check := func(after string, between func() *search.Game) {
					t.Helper()
					if got := find(between(), p, fixed); !got.equal(want) {
						t.Errorf("position %d after %s: %+v, want %+v", i+1, after, got, want)
					}
					if got := find(between(), p, few); !got.equal(wantFew) {
						t.Errorf("position %d with two moves after %s: %+v, want %+v", i+1, after, got, wantFew)
					}
				}

				fresh := k.NewGame(search.GameOptions{Fresh: search.NewTables(ownTable)})
				check("another search", func() *search.Game {
					find(fresh, other, fixed)
					return fresh
				})
				check("a search cut short by nodes", func() *search.Game {
					find(fresh, other, search.Limits{Nodes: 777})
					return fresh
				})
				check("a stopped search", func() *search.Game {
					depths := make(chan int, search.MaxPly)
					s := fresh.Start(other, search.Limits{}, func(i search.Info) { depths <- i.Depth })
					go func() {
						s.Wait()
						close(depths) // a solved position has fewer iterations
					}()
					for range 3 {
						<-depths
					}
					s.Stop()
					s.Wait()
					return fresh
				})
				check("another game", func() *search.Game {
					g := k.NewGame(search.GameOptions{Table: search.NewTable(ownTable)})
					find(g, other, fixed)
					g.Close()
					return k.NewGame(search.GameOptions{Table: search.NewTable(ownTable)})
				})
			}
		})
	}
}

// play is a game played with fixed nodes.
type play struct {
	game  *search.Game
	pos   search.Position
	moves []found
}

func (p *play) move() {
	f := find(p.game, p.pos, search.Limits{Nodes: 1000})
	p.moves = append(p.moves, f)
	if f.Move != game.NoMove && !p.pos.Enter().Over {
		p.pos.Do(f.Move)
	}
}

// TestGamesAreIndependent: two games on one kernel, each with its own table, have
// the moves that each has alone, when they take turns and in parallel.
func TestGamesAreIndependent(t *testing.T) {
	const plies = 10
	for _, s := range adapt(t) {
		t.Run(s.name, func(t *testing.T) {
			open := func(k *search.Kernel, i int) *play {
				return &play{game: k.NewGame(search.GameOptions{Table: search.NewTable(ownTable)}), pos: s.positions[i].Clone()}
			}
			var want [2][]found
			for i := range want {
				alone := open(s.kernel(), i)
				for range plies {
					alone.move()
				}
				want[i] = alone.moves
			}
			check := func(how string, games [2]*play) {
				for i, g := range games {
					if !slices.EqualFunc(g.moves, want[i], found.equal) {
						t.Errorf("%s: game %d found %+v, alone %+v", how, i+1, g.moves, want[i])
					}
				}
			}

			k := s.kernel()
			games := [2]*play{open(k, 0), open(k, 1)}
			for range plies {
				games[0].move()
				games[1].move()
			}
			check("in turn", games)

			k = s.kernel()
			games = [2]*play{open(k, 0), open(k, 1)}
			var both sync.WaitGroup
			for _, g := range games {
				both.Go(func() {
					for range plies {
						g.move()
					}
				})
			}
			both.Wait()
			check("at the same time", games)
		})
	}
}
