package gomoku

import (
	"sync"

	"sparring/game/gomoku"
)

// rows are the kinds of row that a stone on a point would make in the four
// directions, four bits each.
type rows uint16

func (r rows) kind(d gomoku.Direction) gomoku.Kind { return gomoku.Kind(r >> (4 * d) & 15) }

func (r rows) with(d gomoku.Direction, k gomoku.Kind) rows {
	return r&^(15<<(4*d)) | rows(k)<<(4*d)
}

// bothRows are the rows of both colours: Black's in the low half, White's in the high.
type bothRows uint32

func (r bothRows) of(c gomoku.Colour) rows { return rows(r >> (16 * c)) }

func (r bothRows) with(d gomoku.Direction, pair kindPair) bothRows {
	kinds := bothRows(pair)&15 | bothRows(pair)>>4<<16
	return r&^((15<<16|15)<<(4*d)) | kinds<<(4*d)
}

// code names the four kinds of a point's rows in no order: all that the engine
// looks up about a point for one colour depends on it alone.
type code uint16

// codes is the number of codes: the multisets of four kinds.
const codes = int(gomoku.Kinds) * (int(gomoku.Kinds) + 1) * (int(gomoku.Kinds) + 2) * (int(gomoku.Kinds) + 3) / 24

// codeKinds has the kinds of each code, the strongest first.
type codeKinds [codes][gomoku.Directions]gomoku.Kind

var (
	kindsOfCode = sync.OnceValue(newCodeKinds)
	codeOfRows  = sync.OnceValue(newCodeOfRows)
)

func newCodeKinds() *codeKinds {
	all := new(codeKinds)
	n := 0
	for a := range gomoku.Kinds {
		for b := range a + 1 {
			for c := range b + 1 {
				for d := range c + 1 {
					all[n] = [gomoku.Directions]gomoku.Kind{a, b, c, d}
					n++
				}
			}
		}
	}
	return all
}

// newCodeOfRows returns the code of each value of rows. Values that are not made of kinds
// do not occur and have code 0.
func newCodeOfRows() *[1 << 16]code {
	table := new([1 << 16]code)
	for i, k := range kindsOfCode() {
		for _, order := range permutations {
			var r rows
			for d, at := range order {
				r = r.with(gomoku.Direction(d), k[at])
			}
			table[r] = code(i)
		}
	}
	return table
}

// permutations are the orders of the four directions.
var permutations = func() (all [][gomoku.Directions]int) {
	for n := range 256 {
		p := [gomoku.Directions]int{n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6}
		if 1<<p[0]|1<<p[1]|1<<p[2]|1<<p[3] == 15 {
			all = append(all, p)
		}
	}
	return all
}()

// threat is the strongest threat that a stone on an empty point would make.
type threat uint8

const (
	makesFive      threat = iota // it wins
	makesTwo4s                   // it makes two fives possible: a straight four or two fours
	makesFourMore                // a four, and an open three or an open two
	makesFour                    // a four alone
	makesThreeMore               // an open three, and another one or an open two
	makesThree                   // an open three alone
	noThreat
	threats
)

// level is a set of threats; each includes those before it.
type level uint8

const (
	five  level = iota // it wins
	two4s              // it makes two fives possible
	four               // it makes a four of any kind
	open3              // it makes an open three, or a four
	levelCount
	noLevel = levelCount
)

var levelOf = [threats]level{makesFive: five, makesTwo4s: two4s, makesFourMore: four, makesFour: four, makesThreeMore: open3, makesThree: open3, noThreat: noLevel}

// foul is whether Renju forbids a point to Black, as far as the rows show.
type foul uint8

const (
	noFoul  foul = iota
	suspect      // two threes; whether both count depends on more of the board
	certain      // an overline or two fours
)

// classify returns what follows from a code's kinds alone; fouls: some points are
// forbidden to the colour.
func classify(kinds [gomoku.Directions]gomoku.Kind, fouls bool) (t threat, f foul) {
	var count [gomoku.Kinds]int
	for _, k := range kinds {
		count[k]++
	}
	fours := count[gomoku.Four]
	threes := count[gomoku.OpenThree] + count[gomoku.OpenThree2]
	twos := count[gomoku.OpenTwo] + count[gomoku.OpenTwo3] + count[gomoku.OpenTwo4]
	if fouls && count[gomoku.FiveRow] == 0 {
		switch {
		case count[gomoku.Overline]+count[gomoku.DoubleFour] > 0, fours+count[gomoku.StraightFour] > 1:
			return noThreat, certain
		case threes > 1:
			f = suspect
		}
	}
	switch {
	case count[gomoku.FiveRow] > 0:
		return makesFive, f
	case count[gomoku.StraightFour]+count[gomoku.DoubleFour] > 0 || fours > 1:
		return makesTwo4s, f
	case fours > 0 && threes+twos > 0:
		return makesFourMore, f
	case fours > 0:
		return makesFour, f
	case threes > 1 || threes > 0 && twos > 0:
		return makesThreeMore, f
	case threes > 0:
		return makesThree, f
	}
	return noThreat, f
}

// lineTable has the kinds of row of both colours by what lies around a point in one
// direction. As in gomoku.Table, each half of a window has a class, and a pair of classes
// the kinds: less memory to touch than a table by the cells themselves. Halves have the
// same class if none on the other side tells them apart: there are 57 classes in freestyle,
// 62 in Renju and 67 in standard.
type lineTable struct {
	reach [4]int                 // by the content that an empty cell gets: how far away that may change a kind
	class [2][1 << (2 * 5)]uint8 // of the five cells before the point, and of those after it
	kinds [1 << 16]kindPair      // by both classes
}

// dead is the content of a cell of a window with a dead stone, or of the border. An empty
// cell has 0, a stone of a colour c has c + 1.
const dead = 3

// kindPair is Black's kind in the low four bits, White's in the high four.
type kindPair uint8

// pair returns the kinds of a window (gomoku.Board.Window).
func (t *lineTable) pair(window uint32) kindPair {
	return t.kinds[uint16(t.class[0][window&0x3ff])<<8|uint16(t.class[1][window>>12&0x3ff])]
}

func (p kindPair) of(c gomoku.Colour) gomoku.Kind { return gomoku.Kind(p >> (4 * c) & 15) }

var (
	lineTables  = map[[2]gomoku.Line]*lineTable{}
	lineTablesM sync.Mutex
)

// lineTableOf returns the table of the lines that win for Black and White. It is
// made on first use.
func lineTableOf(lines [2]gomoku.Line) *lineTable {
	lineTablesM.Lock()
	defer lineTablesM.Unlock()
	if t := lineTables[lines]; t != nil {
		return t
	}
	t := new(lineTable)
	black, white := gomoku.TableOf(lines[0]), gomoku.TableOf(lines[1])
	pair := func(before, after uint32) kindPair {
		window := before | after<<12
		return kindPair(black.Kind(window, gomoku.Black)) | kindPair(white.Kind(window, gomoku.White))<<4
	}
	known := map[[1 << (2 * 5)]kindPair]uint8{}
	var classes []uint32 // a half of each
	for cells := range uint32(1 << (2 * 5)) {
		var row [1 << (2 * 5)]kindPair
		for before := range row {
			row[before] = pair(uint32(before), cells)
		}
		class, ok := known[row]
		if !ok {
			class = uint8(len(classes))
			known[row], classes = class, append(classes, cells)
		}
		t.class[0][mirrored(cells)], t.class[1][cells] = class, class
	}
	for i, before := range classes {
		for j, after := range classes {
			t.kinds[i<<8|j] = pair(mirrored(before), after)
		}
	}
	for content := range t.reach {
		for cells, class := range t.class[1] {
			for i := range 5 {
				if at := 2 * i; cells>>at&3 == 0 && class != t.class[1][cells|content<<at] {
					t.reach[content] = max(t.reach[content], i+1)
				}
			}
		}
	}
	lineTables[lines] = t
	return t
}

// mirrored returns five cells in the opposite order.
func mirrored(cells uint32) (m uint32) {
	for range 5 {
		m = m<<2 | cells&3
		cells >>= 2
	}
	return m
}
