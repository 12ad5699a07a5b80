package areas

import (
	"sparring/game"
	rules "sparring/game/amazons"
)

// Outcome is a decided sum of areas.
type Outcome struct {
	Winner game.Seat
	// Plies is the number of moves until the loser can't move, if it plays as long
	// as it can; it may be less where areas have amazons of both sides. Exact says
	// that it is not.
	Plies int
	Exact bool
	Move  game.Move // a winning move if the side to move wins, NoMove if none was found
}

// Solve decides who wins the sum of areas with the given side to move, with at most
// so many nodes. It calls stop now and then. Nodes is the number searched.
func (s *Solver) Solve(list []Area, turn game.Seat, budget int, stop func() bool) (o Outcome, nodes int, ok bool) {
	s.prepare(budget, stop)
	defer func() { nodes = s.work.spent }()
	forMove := budget / 8 // kept to find a winning move once the winner is known
	s.work.budget -= forMove
	values := make([]Value, len(list))
	for i := range list {
		n := Number(list[i].Free.Count()) * Move
		values[i] = between(-n, n)
	}
	// Every area has a share first, so that a hard one does not take all.
	for _, share := range [...]int{budget / 8, budget} {
		for i := range list {
			if values[i].IsNumber() {
				continue
			}
			s.capped(share, func() { values[i] = values[i].Meet(s.value(&list[i])) })
		}
		if winner, ok := total(values).Winner(turn); ok {
			s.work.budget += forMove
			return s.outcome(list, values, turn, winner, game.NoMove), 0, true
		}
	}
	var open []Area
	settled, free := Number(0), 0
	for i := range list {
		if values[i].IsNumber() {
			settled += values[i].Low
		} else {
			open = append(open, list[i])
			free += list[i].Free.Count()
		}
	}
	if free > decidedSquares {
		return Outcome{}, 0, false // hopeless
	}
	d, ok := s.decide(open, settled, turn)
	if !ok {
		return Outcome{}, 0, false
	}
	s.work.budget += forMove
	return s.outcome(list, values, turn, d.winner, d.move), 0, true
}

// outcome returns the outcome if winner wins. Move is a winning move, if known.
func (s *Solver) outcome(list []Area, values []Value, turn, winner game.Seat, move game.Move) Outcome {
	o := Outcome{Winner: winner, Move: move}
	if winner == turn && move == game.NoMove {
		o.Move = s.winningMove(list, values, turn)
	}
	o.Plies, o.Exact = plies(list, values, turn, winner)
	return o
}

// decidedSquares is the number of free squares up to which a sum of areas that are
// not numbers is searched.
const decidedSquares = 16

func total(values []Value) Value {
	var v Value
	for i := range values {
		v = v.Add(values[i])
	}
	return v
}

// plies returns how many plies the game lasts at most if winner wins, and whether it
// is exactly as many.
func plies(list []Area, values []Value, turn, winner game.Seat) (n int, exact bool) {
	loser := winner.Other()
	free, most := 0, 0
	exact = true
	for i := range list {
		count := list[i].Free.Count()
		free += count
		switch side, ok := list[i].Owner(); {
		case !ok:
			most += count
			exact = false
		case side == loser:
			high := values[i].High
			if loser == game.Second {
				high = -values[i].Low
			}
			most += int(high / Move)
			exact = exact && values[i].IsNumber()
		}
	}
	n = 2 * most
	if winner == turn {
		n++
	}
	if n > free {
		n = free - (n-free)%2 // the winner moves last
	}
	return n, exact
}

// winningMove returns a move after which the other side loses, NoMove if the budget
// does not suffice to find one. Areas that are not numbers come first: to move in
// a number is never better.
func (s *Solver) winningMove(list []Area, values []Value, turn game.Seat) game.Move {
	for _, numbers := range [...]bool{false, true} {
		for _, search := range [...]bool{false, true} {
			for i := range list {
				if values[i].IsNumber() != numbers {
					continue
				}
				rest := number(0)
				others := make([]Area, 0, len(list)+maxParts)
				settled := number(0)
				for j := range list {
					if j == i {
						continue
					}
					rest = rest.Add(values[j])
					if values[j].IsNumber() {
						settled = settled.Add(values[j])
					} else {
						others = append(others, list[j])
					}
				}
				for _, m := range s.tried(&list[i], turn) {
					if !s.count() {
						return game.NoMove
					}
					after := s.geo.after(&list[i], turn, m)
					if winner, ok := s.winnerOf(rest, others, settled.Low, &after, turn.Other(), search); ok && winner == turn {
						return rules.NewMove(m.from, m.to, m.arrow)
					}
				}
			}
		}
	}
	return game.NoMove
}

// tried returns a side's moves in an area, the best first where it can be told.
func (s *Solver) tried(a *Area, side game.Seat) []step {
	if owner, ok := a.Owner(); !ok || owner != side {
		return s.geo.steps(nil, a, side)
	}
	var list []step
	for _, m := range s.ordered(a, side) {
		list = append(list, m.step)
	}
	return list
}

// winnerOf returns who wins other areas, whose value with what is settled is rest, and the
// parts of one more, with the given side to move. It asks their bounds first. If these do not
// tell, ok is false without a search, and with one if the budget does not suffice.
func (s *Solver) winnerOf(rest Value, others []Area, settled Number, p *parts, turn game.Seat, search bool) (winner game.Seat, ok bool) {
	if winner, ok = rest.Add(s.sumOf(p)).Winner(turn); ok || !search {
		return winner, ok
	}
	d, ok := s.decide(append(others, p.list[:p.n]...), settled, turn)
	return d.winner, ok
}

// decide searches who wins the sum of areas and a number, with the given side to move;
// ok is false if the budget does not suffice.
func (s *Solver) decide(list []Area, settled Number, turn game.Seat) (d decided, ok bool) {
	sum := number(settled)
	open := make([]Area, 0, len(list))
	rest := make([]Value, 0, len(list))
	for i := range list {
		v := s.value(&list[i])
		sum = sum.Add(v)
		if v.IsNumber() {
			settled += v.Low
		} else {
			open, rest = append(open, list[i]), append(rest, v)
		}
	}
	if winner, ok := sum.Winner(turn); ok {
		return decided{winner: winner}, true
	}
	key := sumKey(open, settled, turn)
	if s.sums == nil {
		s.sums = make([]decided, cacheSize)
	}
	entry := &s.sums[key%cacheSize]
	if entry.key == key {
		return *entry, true
	}
	known := true // all moves lose, so far
	options := make([]Area, 0, len(open)+maxParts)
	// First the moves whose result the bounds tell, then the others.
	for _, search := range [...]bool{false, true} {
		for i := range open {
			others := number(settled)
			options = options[:0]
			for j := range open {
				if j != i {
					others, options = others.Add(rest[j]), append(options, open[j])
				}
			}
			for _, m := range s.geo.steps(nil, &open[i], turn) {
				if !s.count() {
					return decided{}, false
				}
				after := s.geo.after(&open[i], turn, m)
				winner, ok := s.winnerOf(others, options, settled, &after, turn.Other(), search)
				if ok && winner == turn {
					*entry = decided{key, turn, rules.NewMove(m.from, m.to, m.arrow)}
					return *entry, true
				}
				known = known && (ok || !search)
			}
		}
	}
	if less, ok := settled.pass(turn); ok {
		d, ok := s.decide(open, less, turn.Other())
		if ok && d.winner == turn {
			*entry = decided{key: key, winner: turn}
			return *entry, true
		}
		known = known && ok
	}
	if !known {
		return decided{}, false
	}
	*entry = decided{key: key, winner: turn.Other()}
	return *entry, true
}

// sumKey is the key of a sum in the table of sums, whatever the order of its areas.
func sumKey(open []Area, settled Number, turn game.Seat) uint64 {
	key := mix(uint64(settled)<<1, uint64(turn))
	for i := range open {
		key += open[i].hash()
	}
	return mix(key, uint64(len(open)))
}
