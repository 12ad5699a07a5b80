package xiangqi

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sparring/game"
)

// Paper 003, section 4, has three ways to generate moves. They are implemented here
// on a mailbox (a piece for each square), as in the paper. TestMethodsAgree compares
// them with the product's way, preset tables on bitboards; BenchmarkMethods shows why
// the product uses that one.

// mailbox is a board as a piece for each square.
type mailbox struct {
	piece [Squares]Piece
	side  Colour
	// Which squares of each rank and file are taken: for preset tables only.
	ranks [Ranks]uint32
	files [Files]uint32
	king  [2]Square // for guarded only
}

func newMailbox(b *Board) *mailbox {
	m := &mailbox{side: b.Side(), king: [2]Square{b.King(Red), b.King(Black)}}
	for s := range Square(Squares) {
		if m.piece[s] = b.At(s); m.piece[s] != NoPiece {
			m.ranks[s.Rank()] |= 1 << s.File()
			m.files[s.File()] |= 1 << s.Rank()
		}
	}
	return m
}

// A method appends the pseudo-legal moves of the side to move, or only its captures.
type method func(m *mailbox, captures bool, buf []game.Move) []game.Move

// target appends a move unless its target is an own piece.
func (m *mailbox) target(from, to Square, captures bool, buf []game.Move) []game.Move {
	p := m.piece[to]
	if p == NoPiece && captures || p != NoPiece && p.Colour() == m.side {
		return buf
	}
	return append(buf, MakeMove(from, to))
}

// slide appends the moves of a rook or cannon, square by square.
func (m *mailbox) slide(from Square, cannon, captures bool, buf []game.Move) []game.Move {
	for _, d := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
		screened := false
		for to, ok := step(from, d[0], d[1]); ok; to, ok = step(to, d[0], d[1]) {
			switch taken := m.piece[to] != NoPiece; {
			case !taken && !screened && !captures:
				buf = append(buf, MakeMove(from, to))
				continue
			case !taken:
				continue
			case cannon && !screened:
				screened = true
				continue
			}
			buf = m.target(from, to, captures, buf)
			break
		}
	}
	return buf
}

// scanning computes each target and its blocking square from the coordinates
// (section 4.1).
func scanning(m *mailbox, captures bool, buf []game.Move) []game.Move {
	try := func(from Square, df, dr, legF, legR int, within func(Square) bool) {
		to, ok := step(from, df, dr)
		if !ok || !within(to) {
			return
		}
		if legF|legR != 0 {
			if leg, _ := step(from, legF, legR); m.piece[leg] != NoPiece {
				return
			}
		}
		buf = m.target(from, to, captures, buf)
	}
	us := m.side
	home := func(s Square) bool { return (s.Rank() < 5) == (us == Red) }
	palace := func(s Square) bool {
		return s.File() >= 3 && s.File() <= 5 && (us == Red && s.Rank() <= 2 || us == Black && s.Rank() >= 7)
	}
	anywhere := func(Square) bool { return true }
	for from, p := range m.piece {
		from := Square(from)
		if p == NoPiece || p.Colour() != us {
			continue
		}
		switch p.Kind() {
		case King:
			for _, d := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
				try(from, d[0], d[1], 0, 0, palace)
			}
		case Advisor:
			for _, d := range [4][2]int{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}} {
				try(from, d[0], d[1], 0, 0, palace)
			}
		case Elephant:
			for _, d := range [4][2]int{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}} {
				try(from, 2*d[0], 2*d[1], d[0], d[1], home)
			}
		case Horse:
			for _, d := range [4][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
				for _, side := range [2]int{-1, 1} {
					try(from, 2*d[0]+side*d[1], 2*d[1]+side*d[0], d[0], d[1], anywhere)
				}
			}
		case Pawn:
			forward := 1 - 2*int(us)
			try(from, 0, forward, 0, 0, anywhere)
			if !home(from) {
				try(from, -1, 0, 0, 0, anywhere)
				try(from, 1, 0, 0, 0, anywhere)
			}
		default:
			buf = m.slide(from, p.Kind() == Cannon, captures, buf)
		}
	}
	return buf
}

// template is the ways of a leaper from a square: where to, and which square
// must be empty, NoSquare for none.
type template struct{ to, leg Square }

// patterns are the templates of all leapers, by piece and square (section 4.2).
var patterns = func() (t [Pieces][Squares][]template) {
	var lone mailbox
	for c := Red; c <= Black; c++ {
		for _, k := range []Kind{King, Advisor, Elephant, Horse, Pawn} {
			p := MakePiece(c, k)
			for from := range Square(Squares) {
				lone = mailbox{side: c}
				lone.piece[from] = p
				for _, m := range scanning(&lone, false, nil) {
					leg := NoSquare
					df, dr := To(m).File()-from.File(), To(m).Rank()-from.Rank()
					if k == Horse || k == Elephant {
						leg, _ = step(from, df/2, dr/2)
					}
					t[p][from] = append(t[p][from], template{To(m), leg})
				}
			}
		}
	}
	return t
}()

// templates lays a pattern on each leaper; sliders still go square by square.
func templates(m *mailbox, captures bool, buf []game.Move) []game.Move {
	for from, p := range m.piece {
		if p == NoPiece || p.Colour() != m.side {
			continue
		}
		if k := p.Kind(); k == Rook || k == Cannon {
			buf = m.slide(Square(from), k == Cannon, captures, buf)
			continue
		}
		buf = m.leap(Square(from), p, captures, buf)
	}
	return buf
}

func (m *mailbox) leap(from Square, p Piece, captures bool, buf []game.Move) []game.Move {
	for _, t := range patterns[p][from] {
		if t.leg == NoSquare || m.piece[t.leg] == NoPiece {
			buf = m.target(from, t.to, captures, buf)
		}
	}
	return buf
}

// presets are the targets of rooks and cannons on a line of n squares, for each
// place on it and each way it can be taken: those that are empty and those that
// are not, in this order (section 4.3).
type presets [2][1 << Ranks][Ranks][2][]uint8

var onRanks, onFiles = makePresets(Files), makePresets(Ranks)

func makePresets(n int) *presets {
	t := &presets{}
	for taken := range 1 << n {
		for at := range n {
			entry := lineEntry(at, n, uint32(taken))
			for cannon := range 2 {
				for to := range n {
					full := taken >> to & 1
					from := entry // a cannon moves like a rook, and captures behind its screen
					if cannon == 1 && full == 1 {
						from >>= 16
					}
					if from>>to&1 != 0 {
						t[cannon][taken][at][full] = append(t[cannon][taken][at][full], uint8(to))
					}
				}
			}
		}
	}
	return t
}

// preset looks up the targets of sliders by how their lines are taken.
func preset(m *mailbox, captures bool, buf []game.Move) []game.Move {
	for from, p := range m.piece {
		if p == NoPiece || p.Colour() != m.side {
			continue
		}
		from, k := Square(from), p.Kind()
		if k != Rook && k != Cannon {
			buf = m.leap(from, p, captures, buf)
			continue
		}
		cannon := int(k - Rook)
		file, rank := from.File(), from.Rank()
		row, column := &onRanks[cannon][m.ranks[rank]][file], &onFiles[cannon][m.files[file]][rank]
		for _, f := range row[1] {
			buf = m.target(from, MakeSquare(int(f), rank), true, buf)
		}
		for _, r := range column[1] {
			buf = m.target(from, MakeSquare(file, int(r)), true, buf)
		}
		if captures {
			continue
		}
		for _, f := range row[0] {
			buf = append(buf, MakeMove(from, MakeSquare(int(f), rank)))
		}
		for _, r := range column[0] {
			buf = append(buf, MakeMove(from, MakeSquare(file, int(r))))
		}
	}
	return buf
}

// bitboards generates moves in the product's way, without checking the king's safety.
func bitboards(b *Board, captures bool, buf []game.Move) []game.Move {
	occupied, want := b.Occupied(), b.All(b.side.Other())
	if !captures {
		want = want.Or(b.Empty())
	}
	for k := Advisor; k <= Pawn; k++ {
		for s := b.of[MakePiece(b.side, k)]; s.Any(); s = s.Rest() {
			buf = appendMoves(buf, s.First(), b.reach(k, s.First(), occupied, want))
		}
	}
	return appendMoves(buf, b.king[b.side], kingSteps[b.king[b.side]].And(want))
}

var methods = []struct {
	name string
	list method
}{{"scanning", scanning}, {"templates", templates}, {"preset-tables", preset}}

// guarded reports whether a move leaves its king unattacked, by looking from
// the king outwards with preset tables and patterns.
func (m *mailbox) guarded(move game.Move) bool {
	from, to := From(move), To(move)
	moved, taken := m.piece[from], m.piece[to]
	ranks, files := m.ranks, m.files
	m.piece[from], m.piece[to] = NoPiece, moved
	m.ranks[from.Rank()] &^= 1 << from.File()
	m.files[from.File()] &^= 1 << from.Rank()
	m.ranks[to.Rank()] |= 1 << to.File()
	m.files[to.File()] |= 1 << to.Rank()
	king := m.king[m.side]
	if king == from {
		king = to
	}
	safe := !m.attacked(king)
	m.piece[from], m.piece[to] = moved, taken
	m.ranks, m.files = ranks, files
	return safe
}

// attacked reports whether the other side attacks a square as it would a king.
func (m *mailbox) attacked(king Square) bool {
	enemy := m.side.Other()
	rook, pawn := MakePiece(enemy, Rook), MakePiece(enemy, Pawn)
	file, rank := king.File(), king.Rank()
	for cannon := range 2 {
		for _, f := range onRanks[cannon][m.ranks[rank]][file][1] {
			if p := m.piece[MakeSquare(int(f), rank)]; p == rook+Piece(cannon) {
				return true
			}
		}
		for _, r := range onFiles[cannon][m.files[file]][rank][1] {
			if p := m.piece[MakeSquare(file, int(r))]; p == rook+Piece(cannon) || cannon == 0 && p == MakePiece(enemy, King) {
				return true
			}
		}
	}
	for _, t := range horsesAt[king] {
		if m.piece[t.to] == MakePiece(enemy, Horse) && m.piece[t.leg] == NoPiece {
			return true
		}
	}
	for _, t := range patterns[MakePiece(m.side, Pawn)][king] { // forward, and sideways beyond the river
		if m.piece[t.to] == pawn {
			return true
		}
	}
	return file > 0 && m.piece[king-1] == pawn || file < Files-1 && m.piece[king+1] == pawn
}

// horsesAt are the squares from which a horse attacks each square, with the leg
// of the horse.
var horsesAt = func() (t [Squares][]template) {
	for from, ways := range patterns[MakePiece(Red, Horse)] {
		for _, way := range ways {
			t[way.to] = append(t[way.to], template{Square(from), way.leg})
		}
	}
	return t
}()

// safe reports whether a move leaves its king unattacked, by trying every
// answer of the other side.
func (m *mailbox) safe(move game.Move) bool {
	next := *m
	next.piece[To(move)], next.piece[From(move)] = next.piece[From(move)], NoPiece
	king := Square(slices.Index(next.piece[:], MakePiece(m.side, King)))
	enemy := Square(slices.Index(next.piece[:], MakePiece(m.side.Other(), King)))
	next.side = m.side.Other()
	// Kings that face each other capture like rooks.
	for _, answer := range next.slide(enemy, false, true, scanning(&next, true, nil)) {
		if To(answer) == king {
			return false
		}
	}
	return true
}

func TestMethodsAgree(t *testing.T) {
	walk(t, 9, 20, 150, func(b *Board, _ *rand.Rand) {
		m := newMailbox(b)
		for _, captures := range []bool{false, true} {
			want := bitboards(b, captures, nil)
			slices.Sort(want)
			for _, by := range methods {
				got := by.list(m, captures, nil)
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Fatalf("%s: %s gives %v, bitboards %v", b.fen(1), by.name, got, want)
				}
			}
		}
		legal := b.Legal(nil)
		slices.Sort(legal)
		for what, safe := range map[string]func(game.Move) bool{"answers": m.safe, "looking out from the king": m.guarded} {
			got := slices.DeleteFunc(scanning(m, false, nil), func(move game.Move) bool { return !safe(move) })
			if slices.Sort(got); !slices.Equal(got, legal) {
				t.Fatalf("%s: by scanning and %s %v are legal, by the board %v", b.fen(1), what, got, legal)
			}
		}
	})
}

// BenchmarkMethods lists all moves of four positions, or the captures alone, in
// each of the ways, and the legal ones with preset tables and with bitboards.
// The cost of updating a mailbox's lines and a board's sets after each move is not
// included.
func BenchmarkMethods(b *testing.B) {
	boards := benchBoards(b)
	var boxes []*mailbox
	for _, board := range boards {
		boxes = append(boxes, newMailbox(board))
	}
	report := func(b *testing.B, list func(i int, buf []game.Move) []game.Move) {
		var buf []game.Move
		for b.Loop() {
			for i := range boards {
				buf = list(i, buf[:0])
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(boards)), "ns/position")
	}
	b.Run("legal/preset-tables", func(b *testing.B) {
		report(b, func(i int, buf []game.Move) []game.Move {
			return slices.DeleteFunc(preset(boxes[i], false, buf), func(move game.Move) bool { return !boxes[i].guarded(move) })
		})
	})
	b.Run("legal/bitboards", func(b *testing.B) {
		report(b, func(i int, buf []game.Move) []game.Move { return boards[i].Legal(buf) })
	})
	for _, captures := range []bool{false, true} {
		what := "all"
		if captures {
			what = "captures"
		}
		for _, by := range methods {
			b.Run(what+"/"+by.name, func(b *testing.B) {
				report(b, func(i int, buf []game.Move) []game.Move { return by.list(boxes[i], captures, buf) })
			})
		}
		b.Run(what+"/bitboards", func(b *testing.B) {
			report(b, func(i int, buf []game.Move) []game.Move { return bitboards(boards[i], captures, buf) })
		})
	}
}
