// Command drawpositions draws the positions of package doctor in which a rule is easily
// broken, and writes them to its folder. It draws the same ones each time.
package main

import (
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"sparring/game"
	"sparring/game/catalog"
)

const head = `# Positions of %s in which a rule is easily broken, drawn by drawpositions.
# rule<TAB>rule set, if it matters<TAB>position<TAB>moves that break the rule
`

func main() {
	for name, draw := range map[string]func(*rand.Rand) []string{"xiangqi": drawXiangqi, "amazons": drawAmazons, "gomoku": drawGomoku} {
		lines := draw(rand.New(rand.NewPCG(1, 1)))
		text := fmt.Sprintf(head, name) + strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(filepath.Join("positions", name+".tsv"), []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// maxWrong is how many moves that break the rule a position lists.
const maxWrong = 3

// line writes a position.
func line(rule, rules, position string, wrong []string) string {
	return strings.Join([]string{rule, rules, position, strings.Join(wrong[:min(len(wrong), maxWrong)], " ")}, "\t")
}

// setUp returns a position in which the game goes on; nil if there is none.
func setUp(rules, text string) game.Position {
	r, err := catalog.Rules(rules)
	if err != nil {
		log.Fatal(err)
	}
	p, err := r.New(text)
	if err != nil || p.Outcome().Over() {
		return nil
	}
	return p
}
