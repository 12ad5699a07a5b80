package areas

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"sparring/game"
	rules "sparring/game/amazons"
)

// testSize is the size up to which tests build the table.
const testSize = 6

// polyplets are the numbers of shapes of 1, 2, ... squares that king steps connect, up
// to symmetry (https://oeis.org/A030222).
var polyplets = []int{1, 2, 5, 22, 94, 524, 3031}

// built returns a table that was built in a new directory.
func built(t testing.TB, largest int) *Table {
	t.Helper()
	table, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := table.Complete(t.Context(), largest, false); err != nil || n != largest || table.Largest() != largest {
		t.Fatalf("%d sizes built up to %d: %v", n, table.Largest(), err)
	}
	return table
}

func TestShapes(t *testing.T) {
	for i, want := range polyplets {
		n := 0
		seen := map[mask]bool{}
		shapes(i+1, func(cells []cell, m mask) bool {
			if best, _ := canonical(cells); best != m {
				t.Fatalf("the canonical image of %v is %v, not %v", cells, best, m)
			}
			seen[m] = true
			n++
			return true
		})
		if n != want || len(seen) != want {
			t.Errorf("%d shapes of %d squares, %d of them different, want %d", n, i+1, len(seen), want)
		}
	}
}

func TestPerfectHash(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 2, 100, 10000} {
		keys := make([]uint64, n)
		for i := range keys {
			keys[i] = rng.Uint64()
		}
		h, err := newPerfectHash(append([]uint64(nil), keys...))
		if err != nil {
			t.Fatal(err)
		}
		seen := make([]bool, n)
		for _, key := range keys {
			at := h.number(key)
			if at >= n || seen[at] {
				t.Fatalf("%d keys: number %d twice or too large", n, at)
			}
			seen[at] = true
		}
	}
	if _, err := newPerfectHash([]uint64{5, 6, 5}); !errors.Is(err, errSameKeys) {
		t.Errorf("equal keys: %v", err)
	}
}

// TestTable compares every value of up to testSize squares with a search without a
// table, which TestValues compares with plain search. Shapes are turned and mirrored at
// random.
func TestTable(t *testing.T) {
	const side = testSize
	table := built(t, testSize)
	g := newGeometry(side, side)
	rng := rand.New(rand.NewPCG(9, 10))
	defective, numbers, hot := 0, 0, 0
	for size := 1; size <= testSize; size++ {
		shapes(size, func(cells []cell, _ mask) bool {
			plain := &Solver{geo: g} // fresh, lest its cache grow stale
			plain.prepare(enough, never)
			width, height := extent(cells)
			_, at := places(cells, width, height, rng.IntN(maxSymmetries))
			squares := make([]rules.Bits, size)
			var open rules.Bits
			for i := range squares {
				squares[i] = rules.Bit(rules.Square(int(at[i])/stride*side + int(at[i])%stride))
				open = open.Or(squares[i])
			}
			check := func(a Area) Value {
				want := plain.value(&a)
				got, ok := table.probe(g.cols, &a)
				if !ok || got != want {
					t.Fatalf("%+v: %+v, %v, want %+v", a, got, ok, want)
				}
				if small, ok := Small().probe(g.cols, &a); ok != (size <= SmallSquares) || ok && small != want {
					t.Fatalf("%+v: %+v, %v in the small table, want %+v", a, small, ok, want)
				}
				return got
			}
			for i, left := range squares {
				for seat := range game.Seat(2) {
					a := Area{Free: open.AndNot(left)}
					a.Amazons[seat] = left
					if v := check(a); v.Low != Number(size-1)*Move && seat == game.First {
						defective++
					}
				}
				for j, right := range squares {
					if i == j {
						continue
					}
					if check(Area{[2]rules.Bits{left, right}, open.AndNot(left).AndNot(right)}).IsNumber() {
						numbers++
					} else {
						hot++
					}
				}
			}
			return true
		})
	}
	t.Logf("%d defective areas of one amazon; of two %d numbers, %d hot", defective, numbers, hot)
	if defective == 0 || numbers == 0 || hot == 0 {
		t.Error("of one kind there is no area")
	}
}

// TestSolveWithTable: with a table the same is decided, with fewer nodes.
func TestSolveWithTable(t *testing.T) {
	table := built(t, testSize)
	rng := rand.New(rand.NewPCG(11, 12))
	with, without := 0, 0
	for range 200 {
		b, text := randomBoard(t, rng, 6, 3, [2]int{1, 1}, 6+rng.IntN(3))
		s := solverOf(b)
		list := s.Divide(b)
		plain, nodes, _ := s.Solve(list, b.Turn(), enough, never)
		without += nodes
		s = NewSolver(6, 3, table)
		o, nodes, ok := s.Solve(list, b.Turn(), enough, never)
		with += nodes
		if !ok || o.Winner != plain.Winner || o.Plies != plain.Plies {
			t.Fatalf("%s: %+v with the table, %+v without", text, o, plain)
		}
	}
	if t.Logf("%d nodes with the table, %d without", with, without); 2*with > without {
		t.Errorf("%d nodes with the table, %d without", with, without)
	}
}

// TestBuildIsResumed: a build that is interrupted keeps what is finished.
func TestBuildIsResumed(t *testing.T) {
	dir := t.TempDir()
	table, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Complete(t.Context(), 4, true); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if n, err := table.Complete(ended, 7, false); n != 0 && n != 2 || !errors.Is(err, context.Canceled) || table.Largest() == 7 {
		t.Fatalf("%d sizes built after the end: %v", n, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != table.Largest() {
		t.Errorf("files %v", left)
	}
	again, err := Open(dir)
	if err != nil || again.Largest() != table.Largest() {
		t.Fatalf("opened up to %d: %v", again.Largest(), err)
	}
	if n, err := again.Complete(t.Context(), 6, false); err != nil || n != 6-table.Largest() {
		t.Errorf("%d sizes built: %v", n, err)
	}
}

// TestTwoBuilds: two processes may build at the same time.
func TestTwoBuilds(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			table, err := Open(dir)
			if err == nil {
				_, err = table.Complete(t.Context(), 5, false)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if table, err := Open(dir); err != nil || table.Largest() != 5 {
		t.Errorf("up to %d: %v", table.Largest(), err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 5 {
		t.Errorf("files %v", files)
	}
}

// sealed appends a file's checksum.
func sealed(data []byte) []byte {
	return binary.LittleEndian.AppendUint32(data, crc32.Checksum(data, castagnoli))
}

// TestDamagedFiles: a file that is not what it should be is named and not used, and
// replaced by the next build.
func TestDamagedFiles(t *testing.T) {
	whole := built(t, 5)
	good, err := os.ReadFile(fileName(whole.dir, 4))
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(fileName(whole.dir, 5))
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 1
	newer := bytes.Clone(good)
	newer[len(magic)] = 9
	// edited returns the file with another number in it and the checksum of that.
	edited := func(at int, n uint32) []byte {
		data := binary.LittleEndian.AppendUint32(bytes.Clone(good[:at]), n)
		return sealed(append(data, good[at+4:len(good)-sumSize]...))
	}
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"empty", "not a file of areas", nil},
		{"foreign", "not a file of areas", []byte(strings.Repeat("x", 100))},
		{"header alone", "cut short", good[:len(magic)+3]},
		{"truncated", "wrong checksum", good[:len(good)-9]},
		{"damaged", "wrong checksum", flipped},
		{"of another version", "version 9", newer},
		{"of another size", "areas of 5 squares", other},
		{"of more shapes", "23 shapes", edited(len(magic)+8, 23)},
		{"of countless levels", "4294967295 levels", edited(len(magic)+12, 1<<32-1)},
		{"of more levels than fit", "60 levels", sealed(append(bytes.Clone(good[:len(magic)+12]), 60, 0, 0, 0))},
		{"of an empty level", "an empty level", edited(fixedSize, 0)},
		{"of a huge level", "larger than the file", edited(fixedSize, 1<<31)},
		{"with too many values", "bytes of values", sealed(append(bytes.Clone(good[:len(good)-sumSize]), 0))},
		{"with too few values", "bytes of values", sealed(bytes.Clone(good[:len(good)-sumSize-1]))},
	} {
		path := fileName(whole.dir, 4)
		if err := os.WriteFile(path, c.data, 0o644); err != nil {
			t.Fatal(err)
		}
		table, err := Open(whole.dir)
		if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if table.Largest() != 3 || table.sizes[5].Load() == nil {
			t.Errorf("%s: not just this file is left out", c.name)
		}
		if n, err := table.Complete(t.Context(), 5, false); n != 1 || err != nil || table.Largest() != 5 {
			t.Errorf("%s: %d sizes built: %v", c.name, n, err)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, good) {
			t.Errorf("%s: the new file is not the old one", c.name)
		}
	}
}
