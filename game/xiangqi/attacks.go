package xiangqi

import "sparring/game"

// The precomputed attack tables (paper 003, section 4.3). The squares that a
// rook or cannon reaches on its rank or file are looked up by the occupancy of
// that line, as in the paper; those of a horse or elephant by its four legs or
// eyes, which a multiplication gathers into an index (magic bitboards).
//
// Arrays indexed by Square have 256 entries so that no bounds are checked.
var (
	only  [256]Bits
	lines [256]line // where a square lies on its rank and file

	// rankTable and fileTable: place on the line and occupancy of the line to
	// the squares a rook reaches (low 16 bits) and those a cannon would
	// capture on (high 16), each with the piece that ends the way.
	rankTable [Files << Files]uint32
	fileTable [Ranks << Ranks]uint32
	// spread puts five bits on the a-file of one half.
	spread [32]uint64

	horseFrom [256]leaper // what a horse on s attacks
	horseTo   [256]leaper // where a horse would attack s from
	elephant  [256]leaper

	kingSteps    [256]Bits
	advisorSteps [256]Bits
	pawnSteps    [2][256]Bits // by colour: what a pawn on s attacks
	pawnSources  [2][256]Bits // by colour: where a pawn would attack s from

	cross    [256]Bits            // rank and file of s, without s
	between  [Squares][256]Bits   // squares between two on one line
	horseLeg [Squares][256]Square // the leg of a horse on the first that attacks the second
	standing [Pieces]Bits         // where a piece may be set up
	zobrist  [Pieces][256]uint64  // keys of a piece on a square
	palaces  = [2]Bits{}          // by colour
	halves   = [2]Bits{{Lo: 1<<half - 1}, {Hi: 1<<half - 1}}
)

// line is the place of a square on its rank and file.
type line struct {
	rankMask Bits   // the squares of the rank
	rankPart uint16 // of rankTable, for the place on the rank
	filePart uint16 // of fileTable, for the place on the file
	shift    uint8  // first bit of the rank in its word
	file     uint8
}

// leaper is the reach of a piece that four squares can block.
type leaper struct {
	mask  Bits // the blocking squares; their bits differ even between the two words
	magic uint64
	reach [16]Bits
}

func (l *leaper) attacks(occupied Bits) Bits {
	return l.reach[((occupied.Lo&l.mask.Lo|occupied.Hi&l.mask.Hi)*l.magic)>>60]
}

// fileBits are the squares of the a-file in one half.
const fileBits = 1 | 1<<9 | 1<<18 | 1<<27 | 1<<36

// gather multiplies the a-file's bits of one half into bits 32 to 36. No two
// partial products overlap, so nothing carries.
const gather = 1 | 1<<8 | 1<<16 | 1<<24 | 1<<32

// entries returns the table entries of the square's rank and file. The function is
// short enough to be inlined.
func (l *line) entries(occupied Bits) (rank, file uint32) {
	onRank := (occupied.Lo&l.rankMask.Lo | occupied.Hi&l.rankMask.Hi) >> (l.shift & 63)
	f := l.file & 63
	onFile := (occupied.Lo>>f&fileBits*gather)>>32&31 | (occupied.Hi>>f&fileBits*gather)>>27&(31<<5)
	return rankTable[uint64(l.rankPart)|onRank], fileTable[uint64(l.filePart)|onFile]
}

// squares turns the low 16 bits of the two entries into a set.
func (l *line) squares(rank, file uint32) Bits {
	r := uint64(rank&0x1ff) << (l.shift & 63)
	f := l.file & 63
	return Bits{
		r&l.rankMask.Lo | spread[file&31]<<f,
		r&l.rankMask.Hi | spread[file>>5&31]<<f,
	}
}

// RookAttacks returns the squares that a rook on s attacks or defends.
func RookAttacks(s Square, occupied Bits) Bits {
	l := &lines[s]
	return l.squares(l.entries(occupied))
}

// CannonAttacks returns the squares on which a cannon on s attacks or would attack
// or defend a piece: those behind its screens, the first piece included.
func CannonAttacks(s Square, occupied Bits) Bits {
	l := &lines[s]
	rank, file := l.entries(occupied)
	return l.squares(rank>>16, file>>16)
}

// LineAttacks are RookAttacks and CannonAttacks together.
func LineAttacks(s Square, occupied Bits) (rook, cannon Bits) {
	l := &lines[s]
	rank, file := l.entries(occupied)
	return l.squares(rank, file), l.squares(rank>>16, file>>16)
}

// HorseAttacks returns the squares that a horse on s attacks or defends.
func HorseAttacks(s Square, occupied Bits) Bits { return horseFrom[s].attacks(occupied) }

// HorseSources returns the squares from which a horse would attack s.
func HorseSources(s Square, occupied Bits) Bits { return horseTo[s].attacks(occupied) }

// ElephantAttacks returns the squares that an elephant on s attacks or defends;
// the relation holds both ways.
func ElephantAttacks(s Square, occupied Bits) Bits { return elephant[s].attacks(occupied) }

// AdvisorAttacks returns the squares that an advisor on s attacks or defends.
func AdvisorAttacks(s Square) Bits { return advisorSteps[s] }

// KingAttacks returns the steps of a king on s, without the flying general.
func KingAttacks(s Square) Bits { return kingSteps[s] }

// PawnAttacks returns the squares that c's pawn on s attacks or defends.
func PawnAttacks(c Colour, s Square) Bits { return pawnSteps[c][s] }

// PawnSources returns the squares from which a pawn of c would attack s.
func PawnSources(c Colour, s Square) Bits { return pawnSources[c][s] }

// Attacks returns the squares on which the piece on s attacks or would attack or
// defend a piece. A cannon's quiet moves are not included.
func Attacks(p Piece, s Square, occupied Bits) Bits {
	switch p.Kind() {
	case King:
		return kingSteps[s]
	case Advisor:
		return advisorSteps[s]
	case Elephant:
		return ElephantAttacks(s, occupied)
	case Horse:
		return HorseAttacks(s, occupied)
	case Rook:
		return RookAttacks(s, occupied)
	case Cannon:
		return CannonAttacks(s, occupied)
	case Pawn:
		return pawnSteps[p.Colour()][s]
	}
	return Bits{}
}

// Between returns the squares between two squares of one rank or file, and the
// empty set for any other two.
func Between(a, b Square) Bits { return between[a][b] }

// Palace returns the palace of c.
func Palace(c Colour) Bits { return palaces[c] }

func init() {
	for s := range Square(Squares) {
		if s < half {
			only[s] = Bits{Lo: 1 << s}
		} else {
			only[s] = Bits{Hi: 1 << (s - half)}
		}
	}
	initLines()
	initSteps()
	initLeapers()
	initStanding()
	for p := range Piece(Pieces) {
		for s := range Square(Squares) {
			if p.Kind() != NoKind {
				zobrist[p][s] = game.Zobrist(keySeed, keyIndex(p, s))
			}
		}
	}
}

// step returns the square df files and dr ranks away; ok is false off the board.
func step(s Square, df, dr int) (to Square, ok bool) {
	f, r := s.File()+df, s.Rank()+dr
	return MakeSquare(f, r), f >= 0 && f < Files && r >= 0 && r < Ranks
}

// lineEntry returns what a slider at place i of a line of n reaches.
func lineEntry(i, n int, occupied uint32) (entry uint32) {
	for _, d := range [2]int{-1, 1} {
		screens := 0
		for j := i + d; j >= 0 && j < n && screens < 2; j += d {
			taken := occupied>>j&1 != 0
			if screens == 0 {
				entry |= 1 << j
			} else {
				entry |= 1 << (j + 16)
			}
			if taken {
				screens++
			}
		}
	}
	return entry
}

func initLines() {
	for i := range Files {
		for o := range uint32(1 << Files) {
			rankTable[i<<Files|int(o)] = lineEntry(i, Files, o)
		}
	}
	for i := range Ranks {
		for o := range uint32(1 << Ranks) {
			fileTable[i<<Ranks|int(o)] = lineEntry(i, Ranks, o)
		}
	}
	for v := range spread {
		for i := range 5 {
			spread[v] |= uint64(v>>i&1) << (i * Files)
		}
	}
	for s := range Square(Squares) {
		l := &lines[s]
		l.file, l.shift = uint8(s.File()), uint8(s.Rank()%5*Files)
		l.rankPart, l.filePart = uint16(s.File()<<Files), uint16(s.Rank()<<Ranks)
		for t := range Square(Squares) {
			sameRank, sameFile := s.Rank() == t.Rank(), s.File() == t.File()
			if sameRank {
				l.rankMask = l.rankMask.Or(only[t])
			}
			if sameRank != sameFile {
				cross[s] = cross[s].Or(only[t])
			}
		}
	}
	for s := range Square(Squares) {
		for _, d := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
			var path Bits
			for t, ok := step(s, d[0], d[1]); ok; t, ok = step(t, d[0], d[1]) {
				between[s][t] = path
				path = path.Or(only[t])
			}
		}
	}
}

func initSteps() {
	for f := 3; f <= 5; f++ {
		for r := range 3 {
			s := MakeSquare(f, r)
			palaces[Red] = palaces[Red].Or(only[s])
			palaces[Black] = palaces[Black].Or(only[s.Flip()])
		}
	}
	palace := palaces[Red].Or(palaces[Black])
	for s := range Square(Squares) {
		for _, d := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
			t, ok := step(s, d[0], d[1])
			if !ok {
				continue
			}
			if palace.Has(s) && palace.Has(t) {
				kingSteps[s] = kingSteps[s].Or(only[t])
			}
			for c := range Colour(2) {
				forward := d[1] == 1 && c == Red || d[1] == -1 && c == Black
				if forward || d[1] == 0 && !halves[c].Has(s) {
					pawnSteps[c][s] = pawnSteps[c][s].Or(only[t])
					pawnSources[c][t] = pawnSources[c][t].Or(only[s])
				}
			}
		}
		for _, d := range [4][2]int{{-1, -1}, {1, -1}, {-1, 1}, {1, 1}} {
			if t, ok := step(s, d[0], d[1]); ok && palace.Has(s) && palace.Has(t) {
				// Of the palace's squares an advisor uses the five of its cross.
				if (s.File()+s.Rank())&1 == advisorParity(s) {
					advisorSteps[s] = advisorSteps[s].Or(only[t])
				}
			}
		}
	}
}

// advisorParity is (file+rank)&1 of the advisor's squares on that side.
func advisorParity(s Square) int {
	if s < half {
		return 1 // d0, f0, e1, ...
	}
	return 0 // d9, f9, e8, ...
}

func initStanding() {
	all := halves[Red].Or(halves[Black])
	for c := range Colour(2) {
		home := halves[c]
		standing[MakePiece(c, King)] = palaces[c]
		var advisors, elephants, pawns Bits
		for s := range Square(Squares) {
			own := home.Has(s)
			if own && advisorSteps[s].Any() {
				advisors = advisors.Or(only[s])
			}
			fromHome := s // as Red sees it
			if c == Black {
				fromHome = s.Flip()
			}
			f, r := fromHome.File(), fromHome.Rank()
			if own && (r%4 == 0 && f%4 == 2 || r == 2 && f%4 == 0) {
				elephants = elephants.Or(only[s])
			}
			// In a game pawns start on every other file of the fourth rank
			// and never go back, but standard test positions have them one
			// rank lower and on all files, though never on the two lowest
			// ranks.
			if !own || r >= 2 {
				pawns = pawns.Or(only[s])
			}
		}
		standing[MakePiece(c, Advisor)] = advisors
		standing[MakePiece(c, Elephant)] = elephants
		standing[MakePiece(c, Pawn)] = pawns
		for _, k := range [3]Kind{Horse, Rook, Cannon} {
			standing[MakePiece(c, k)] = all
		}
	}
}

func initLeapers() {
	for s := range Square(Squares) {
		for t := range horseLeg[s] {
			horseLeg[s][t] = NoSquare
		}
	}
	straight := [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}}
	diagonal := [4][2]int{{-1, -1}, {1, -1}, {-1, 1}, {1, 1}}
	for s := range Square(Squares) {
		var from, to, eyes []blocked
		for _, d := range straight {
			leg, ok := step(s, d[0], d[1])
			if !ok {
				continue
			}
			var targets Bits
			for _, side := range [2]int{-1, 1} {
				if t, ok := step(leg, d[0]+side*d[1]*d[1], d[1]+side*d[0]*d[0]); ok {
					targets = targets.Or(only[t])
					horseLeg[s][t] = leg
				}
			}
			from = append(from, blocked{leg, targets})
		}
		for _, d := range diagonal {
			leg, ok := step(s, d[0], d[1])
			if !ok {
				continue
			}
			var sources Bits
			for _, e := range [2][2]int{{d[0], 0}, {0, d[1]}} {
				if t, ok := step(leg, e[0], e[1]); ok {
					sources = sources.Or(only[t])
				}
			}
			to = append(to, blocked{leg, sources})
			if t, ok := step(leg, d[0], d[1]); ok && (t < half) == (s < half) {
				eyes = append(eyes, blocked{leg, only[t]})
			}
		}
		horseFrom[s], horseTo[s], elephant[s] = makeLeaper(from), makeLeaper(to), makeLeaper(eyes)
	}
}

// blocked are targets that a piece on the leg takes away.
type blocked struct {
	leg     Square
	targets Bits
}

// makeLeaper finds a multiplier that gathers the legs' bits into the upper four
// without collisions. It tries the numbers of game.Zobrist in turn.
func makeLeaper(legs []blocked) leaper {
	var l leaper
	for _, b := range legs {
		l.mask = l.mask.Or(only[b.leg])
	}
	for i := uint64(0); ; i += 3 {
		l.magic = game.Zobrist(keySeed, i) & game.Zobrist(keySeed, i+1) & game.Zobrist(keySeed, i+2)
		l.reach = [16]Bits{}
		if l.fill(legs) {
			return l
		}
	}
}

// fill enters the reach for every occupancy of the legs; false when two
// occupancies fall on one entry.
func (l *leaper) fill(legs []blocked) bool {
	var used [16]bool
	for o := range 1 << len(legs) {
		var occupied, reach Bits
		for i, b := range legs {
			if o>>i&1 != 0 {
				occupied = occupied.Or(only[b.leg])
			} else {
				reach = reach.Or(b.targets)
			}
		}
		at := ((occupied.Lo | occupied.Hi) * l.magic) >> 60
		if used[at] {
			return false
		}
		used[at] = true
		l.reach[at] = reach
	}
	return true
}
