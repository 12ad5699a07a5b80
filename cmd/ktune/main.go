package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"time"

	"sparring/engine/amazons"
	"sparring/engine/gomoku"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
)

type ad struct {
	pos    func(game.Position) (search.Position, error)
	params func() search.Params
}

var ads = map[string]ad{"amazons": {amazons.New, amazons.Params}, "gomoku": {gomoku.New, gomoku.Params}}

func set(p search.Params, names string) search.Params {
	v := reflect.ValueOf(&p).Elem()
	for _, n := range strings.Split(names, ",") {
		if n == "" {
			continue
		}
		on := true
		if n[0] == '-' {
			on, n = false, n[1:]
		}
		if k, val, ok := strings.Cut(n, "="); ok {
			f := v
			for _, part := range strings.Split(k, ".") {
				f = f.FieldByName(part)
			}
			var x int64
			fmt.Sscan(val, &x)
			if f.Kind() == reflect.Bool {
				f.SetBool(x != 0)
			} else {
				f.SetInt(x)
			}
			continue
		}
		v.FieldByName("On").FieldByName(n).SetBool(on)
	}
	return p
}

func main() {
	name := flag.String("game", "gomoku", "")
	rules := flag.String("rules", "", "")
	a := flag.String("a", "", "")
	b := flag.String("b", "", "")
	pairs := flag.Int("pairs", 50, "")
	nodes := flag.Uint64("nodes", 5000, "")
	ms := flag.Int("ms", 0, "")
	conc := flag.Int("c", 1, "")
	limit := flag.Duration("limit", time.Minute, "")
	flag.Parse()
	g := ads[*name]
	pa, pb := set(g.params(), *a), set(g.params(), *b)
	var mu sync.Mutex
	var w, d, l int
	var pent [5]int
	depths := [2]float64{}
	var moves [2]float64
	begin := time.Now()
	next := 0
	var wg sync.WaitGroup
	for range *conc {
		wg.Go(func() {
			ks := [2]*search.Kernel{}
			tabs := [2]*search.Table{search.NewTable(16 << 20), search.NewTable(16 << 20)}
			ks[0], ks[1] = search.New(pa, tabs[0]), search.New(pb, tabs[1])
			for {
				mu.Lock()
				id := next
				next++
				stop := id >= *pairs || time.Since(begin) > *limit
				mu.Unlock()
				if stop {
					return
				}
				// opening
				rng := rand.New(rand.NewPCG(99, uint64(id)))
				var open []game.Move
				for {
					p, err := catalog.Setup(*name, *rules, "")
					if err != nil {
						panic(err)
					}
					open = open[:0]
					for range 2 + rng.IntN(5) {
						ms := p.Legal(nil)
						if len(ms) == 0 {
							break
						}
						// near the middle for gomoku: play among the best few by depth 1
						m := ms[rng.IntN(len(ms))]
						if *name == "gomoku" {
							q, _ := g.pos(p)
							r := search.New(g.params(), search.NewTable(1<<16)).Start(q, search.Limits{Depth: 1, MultiPV: 12}, nil).Wait()
							m = r.Lines[rng.IntN(len(r.Lines))].PV[0]
						}
						open = append(open, m)
						p.Play(m)
					}
					if p.Outcome().Over() {
						continue
					}
					q, err := g.pos(p)
					if err != nil {
						continue
					}
					r := search.New(g.params(), search.NewTable(1<<20)).Start(q, search.Limits{Nodes: 5000}, nil).Wait()
					if r.Chance > 0.3 && r.Chance < 0.7 {
						break
					}
				}
				pts := 0
				for side := range 2 { // side: which seat A has
					p, _ := catalog.Setup(*name, *rules, "")
					for _, m := range open {
						p.Play(m)
					}
					tabs[0].Clear()
					tabs[1].Clear()
					for n := 0; !p.Outcome().Over() && n < 300; n++ {
						who := 0
						if int(p.Turn()) != side {
							who = 1
						}
						q, err := g.pos(p)
						if err != nil {
							panic(err)
						}
						lim := search.Limits{Nodes: *nodes}
						if *ms > 0 {
							lim = search.Limits{Hard: time.Duration(*ms) * time.Millisecond}
						}
						r := ks[who].Start(q, lim, nil).Wait()
						mu.Lock()
						if r.Source == "search" && math.Abs(float64(r.Score)) < 29000 {
							depths[who] += float64(r.Depth)
							moves[who]++
						}
						mu.Unlock()
						if err := p.Play(r.Move); err != nil {
							panic(err)
						}
					}
					out := p.Outcome().Result
					mu.Lock()
					switch {
					case out == game.WonBy(game.Seat(side)):
						w++
						pts += 2
					case out == game.Draw || out == game.Undecided:
						d++
						pts++
					default:
						l++
					}
					mu.Unlock()
				}
				mu.Lock()
				pent[pts]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	n := 0
	mean, va := 0.0, 0.0
	for i, c := range pent {
		n += c
		mean += float64(i*c) / 4
	}
	mean /= float64(n)
	for i, c := range pent {
		va += float64(c) * (float64(i)/4 - mean) * (float64(i)/4 - mean)
	}
	se := math.Sqrt(va/float64(n)) / math.Sqrt(float64(n))
	fmt.Printf("%-40s vs %-12s +%d =%d -%d %.1f%% ±%.1f pent %v depth %.2f %.2f %v\n", *a, *b, w, d, l, 100*mean, 196*se, pent, depths[0]/moves[0], depths[1]/moves[1], time.Since(begin).Round(time.Second))
}
