package trees

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"golang.org/x/sync/errgroup"

	"sparring/engine"
	"sparring/engine/adapter"
	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/game"
)

// Plan says how trees are made and labelled.
type Plan struct {
	TreeNodes uint64 `json:"tree_nodes"` // of the search that a tree is of
	Nodes     uint64 `json:"nodes"`      // of the search that labels a position
	PerTree   int    `json:"per_tree"`   // positions drawn from a tree
	// Moves draws the positions whose moves the search runs through, by which a policy is
	// asked, instead of those that it evaluates.
	Moves bool   `json:"moves,omitempty"`
	Seed  uint64 `json:"seed,string"`
}

// Validate reports everything that is out of range.
func (p Plan) Validate() error {
	var errs []error
	if p.TreeNodes < 1 || p.Nodes < 1 {
		errs = append(errs, fmt.Errorf("%d nodes a tree, %d a label: want 1 or more", p.TreeNodes, p.Nodes))
	}
	if p.PerTree < 1 {
		errs = append(errs, fmt.Errorf("%d positions a tree: want 1 or more", p.PerTree))
	}
	return errors.Join(errs...)
}

// Terms returns the terms of a file of trees from the games.
func (p Plan) Terms(games *Games) *Terms {
	return &Terms{V: FileVersion, Game: games.Game, Plan: p, Rules: games.Rules, Games: games.Len(), GamesDigest: games.Digest(), Build: engine.Build()}
}

// Run appends trees to a file until it has that many: the same ones whatever the
// number that is made at the same time. Watch, unless nil, is called after each. The
// error is that of ctx, or says what failed.
func (p Plan) Run(ctx context.Context, games *Games, file *File, trees, concurrency int, watch func()) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if games.Len() == 0 {
		return errors.New("no games to take positions from")
	}
	a, err := engine.Adapter(games.Game)
	if err != nil {
		return err
	}
	maker := &maker{plan: p, games: games.sorted(), adapter: a, kernel: search.New(a.Params(), search.NewTable(0)), tables: search.NewTables(tableBytes)}
	type job struct {
		number int
		made   chan *Tree
	}
	group, ctx := errgroup.WithContext(ctx)
	todo, order := make(chan job), make(chan job, 2*concurrency)
	group.Go(func() error {
		defer close(todo)
		defer close(order)
		for n := file.Trees() + 1; n <= trees; n++ {
			j := job{n, make(chan *Tree, 1)}
			for _, to := range []chan job{order, todo} {
				select {
				case to <- j:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		return nil
	})
	for range concurrency {
		group.Go(func() error {
			g := maker.kernel.NewGame(search.GameOptions{Fresh: maker.tables})
			defer g.Close()
			for j := range todo {
				tree, err := maker.tree(ctx, g, j.number)
				if err != nil {
					return err
				}
				j.made <- tree
			}
			return nil
		})
	}
	group.Go(func() error {
		for j := range order {
			select {
			case tree := <-j.made:
				if err := file.append(tree); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
			if watch != nil {
				watch()
			}
		}
		return nil
	})
	return group.Wait()
}

// tableBytes is the size of a search's hash table: enough for the small searches of
// labels, and quickly cleared before each.
const tableBytes = 1 << 20

// maker makes trees. It is safe for concurrent use.
type maker struct {
	plan    Plan
	games   []string
	adapter adapter.Adapter
	kernel  *search.Kernel
	tables  *search.Tables
}

// tree makes a tree and labels positions of it, with the searches of g.
func (m *maker) tree(ctx context.Context, g *search.Game, number int) (*Tree, error) {
	rng := rand.New(rand.NewPCG(m.plan.Seed, uint64(number)))
	tree := &Tree{Number: number, Positions: []Position{}}
	root, pos, err := m.root(rng)
	if err != nil || root == nil {
		return tree, err
	}
	tree.Rules = root.Rules().Name
	drawn := &sample{moves: m.plan.Moves, most: m.plan.PerTree, rng: rng}
	if _, err := run(ctx, g, sampling(pos, drawn), m.plan.TreeNodes); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, line := range drawn.lines {
		p, err := after(root, line)
		if errors.Is(err, game.ErrOver) {
			continue // by a rule that the search judges otherwise
		}
		if err != nil {
			return nil, fmt.Errorf("tree %d from %s: %w", number, root, err)
		}
		if text := p.String(); !seen[text] {
			seen[text] = true
			labelled, ok, err := m.label(ctx, g, root.Rules(), text)
			if err != nil {
				return nil, fmt.Errorf("tree %d: %s: %w", number, text, err)
			}
			if ok {
				tree.Positions = append(tree.Positions, labelled)
			}
		}
	}
	return tree, nil
}

// after returns the position after a line of moves.
func after(p game.Position, line []game.Move) (game.Position, error) {
	p = p.Clone()
	for _, move := range line {
		if err := p.Play(move); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// label searches a position without its history, as a reader of its text will see it. Ok
// is false where there is nothing to search.
func (m *maker) label(ctx context.Context, g *search.Game, rules *game.Rules, text string) (labelled Position, ok bool, err error) {
	p, err := rules.New(text)
	if err != nil || p.Outcome().Over() {
		return labelled, false, err
	}
	pos, err := m.adapter.New(p)
	if err != nil {
		return labelled, false, err
	}
	r, err := run(ctx, g, pos, m.plan.Nodes)
	if err != nil || r.Source == search.FromOnly {
		return labelled, false, err
	}
	labelled = Position{Text: text, Score: r.Score, Source: r.Source}
	if m.plan.Moves {
		labelled.Move = p.Format(r.Move)
	}
	return labelled, true, nil
}

func run(ctx context.Context, g *search.Game, p search.Position, nodes uint64) (search.Result, error) {
	s := g.Start(p, search.Limits{Nodes: nodes}, nil)
	defer context.AfterFunc(ctx, s.Stop)()
	r := s.Wait()
	return r, ctx.Err()
}

// A root is a position of a game or one or two moves away from it.
const (
	furtherMoves = 2
	rootTries    = 100 // without a position to search, the tree stays empty
)

// root draws the root of a tree. It is nil if none was found.
func (m *maker) root(rng *rand.Rand) (game.Position, search.Position, error) {
	for range rootTries {
		var o origin
		o.read(m.games[rng.IntN(len(m.games))])
		p, err := o.replay(rng.IntN(len(o.moves)))
		if err != nil {
			return nil, nil, err // it was played before
		}
		pos, err := m.enter(p)
		for range rng.IntN(furtherMoves + 1) {
			if pos == nil {
				break
			}
			move, ok := likely(pos, rng)
			if !ok {
				pos = nil
				break
			}
			if err := p.Play(move); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", p, err)
			}
			pos, err = m.enter(p)
		}
		if err != nil || pos != nil {
			return p, pos, err
		}
	}
	return nil, nil, nil
}

// enter adapts a position for the search, and enters it. It returns nil where there is
// nothing to search.
func (m *maker) enter(p game.Position) (search.Position, error) {
	if p.Outcome().Over() || opening.Running(p) {
		return nil, nil
	}
	pos, err := m.adapter.New(p)
	if err != nil || pos.Enter().Over {
		return nil, err
	}
	return pos, nil
}

// falloff is by how much each move of the engine's order is less likely to be drawn
// than the one before. The first is drawn in a quarter of cases, one of the first five
// in three quarters.
const falloff = 0.75

// likely draws a move by its place in the engine's order.
func likely(pos search.Position, rng *rand.Rand) (move game.Move, ok bool) {
	var all []search.ScoredMove
	cursor := &search.Cursor{}
	for batch := pos.Moves(nil, cursor); len(batch) > 0; batch = pos.Moves(nil, cursor) {
		slices.SortStableFunc(batch, func(a, b search.ScoredMove) int { return int(b.Order - a.Order) })
		all = append(all, batch...)
	}
	if len(all) == 0 {
		return game.NoMove, false
	}
	at := 0
	for rng.Float64() < falloff {
		at++
	}
	return all[at%len(all)].Move, true
}
