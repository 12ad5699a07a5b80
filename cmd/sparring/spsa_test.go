package main

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gomoku"
	"sparring/pipe/uci"
)

// tunedEngine is an engine for Gomoku whose strength is a known function of two
// options: it looks for rows as long as Attack is near 60 and Guard near 30, and
// otherwise moves at random. It ends when it is to move with a Trap of 50 or more.
func tunedEngine() {
	values := map[string]int{"Attack": 10, "Guard": 90, "Trap": 0}
	rules, err := catalog.Rules("gomoku/freestyle-15")
	if err != nil {
		panic(err)
	}
	var pos game.Position
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		c, _ := uci.Parse(in.Text())
		switch c := c.(type) {
		case uci.Hello:
			fmt.Println(uci.ID{Key: "name", Value: "tuned"})
			fmt.Println(uci.Option{Name: "UCI_Variant", Kind: uci.Combo, Default: gomoku.Name, Vars: []string{gomoku.Name}})
			fmt.Println(uci.Option{Name: "Ponder", Kind: uci.Check, Default: "false"})
			for _, name := range []string{"Attack", "Guard", "Trap"} {
				fmt.Println(uci.Option{Name: name, Kind: uci.Spin, Default: strconv.Itoa(values[name]), Max: 100})
			}
			fmt.Println(uci.OK{})
		case uci.IsReady:
			fmt.Println(uci.ReadyOK{})
		case uci.SetOption:
			values[c.Name], _ = strconv.Atoi(c.Value)
		case uci.Position:
			if pos, err = rules.New(c.FEN); err != nil {
				panic(err)
			}
			for _, m := range c.Moves {
				if _, err := game.PlayText(pos, m); err != nil {
					panic(err)
				}
			}
		case uci.Go:
			if values["Trap"] >= 50 {
				fmt.Fprintln(os.Stderr, "it fell into its trap")
				os.Exit(3)
			}
			fmt.Println(uci.BestMove{Move: tunedMove(pos, values)})
		case uci.Quit:
			return
		}
	}
}

// tunedMove returns the move of the engine. It is the same for the same position and
// values.
func tunedMove(pos game.Position, values map[string]int) string {
	off := math.Hypot(float64(values["Attack"]-60), float64(values["Guard"]-30)) / 80
	rng := rand.New(rand.NewPCG(pos.Key(), uint64(values["Attack"]<<8|values["Guard"])))
	legal := pos.Legal(nil)
	best, most := legal[rng.IntN(len(legal))], -1.0
	if rng.Float64() < off {
		return pos.Format(best)
	}
	pieces := pos.(*gomoku.Position).Pieces()
	for _, m := range legal {
		if v := tunedWorth(pieces, pos.Format(m)) + rng.Float64(); v > most {
			best, most = m, v
		}
	}
	return pos.Format(best)
}

// tunedWorth is larger the longer the rows are, of either colour, that go through a point.
func tunedWorth(pieces map[string]string, at string) (worth float64) {
	rank, _ := strconv.Atoi(at[1:])
	for _, d := range [][2]int{{1, 0}, {0, 1}, {1, 1}, {1, -1}} {
		for _, colour := range []string{"x", "o"} {
			row := 0
			for _, sign := range []int{1, -1} {
				for k := 1; k < 5 && pieces[fmt.Sprintf("%c%d", int(at[0])+sign*k*d[0], rank+sign*k*d[1])] == colour; k++ {
					row++
				}
			}
			worth += math.Pow(8, float64(row))
		}
	}
	return worth
}
