package xiangqi

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sparring/game"
)

// TestExternalVerdicts plays the cycles of another engine's tests to their end
// under the WXF rules. Its file has the verdict of each game for the side to move
// after the moves. Programs disagree on two rows; docs/rules-xiangqi.md decides them
// as the file does.
func TestExternalVerdicts(t *testing.T) {
	dir := os.Getenv("SPARRING_EXTERNAL_DATA")
	if dir == "" {
		t.Skip("SPARRING_EXTERNAL_DATA names no folder with xiangqi-repetition.tsv")
	}
	f, err := os.Open(filepath.Join(dir, "xiangqi-repetition.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	row := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		row++
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Split(lines.Text(), "\t")
		r, err := parseRules("xiangqi/wxf+limit=none")
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.start(fields[0])
		if err != nil {
			t.Errorf("row %d: %v", row, err)
			continue
		}
		moves := strings.Fields(fields[2])
		side := p.Turn()
		if len(moves)%2 == 1 {
			side = side.Other()
		}
		want := map[string]game.Result{"Win": game.WonBy(side), "Loss": game.WonBy(side.Other()), "Draw": game.Draw}[fields[1]]
		if got := cycle(t, p.(*Position), Algebra, moves); got.Result != want {
			t.Errorf("row %d: %v (%s), want %s: %s", row, got.Result, got.Reason, fields[1], fields[0])
		}
	}
	if row < 170 {
		t.Errorf("only %d rows", row)
	}
}

// cycle plays moves, then repeats the cycle they end in until
// the game is over.
func cycle(t *testing.T, p *Position, n game.Notation, moves []string) game.Outcome {
	t.Helper()
	play := func(m game.Move) {
		if !p.Outcome().Over() {
			if err := p.Play(m); err != nil {
				t.Fatalf("%s: %v", p, err)
			}
		}
	}
	for _, text := range moves {
		if p.Outcome().Over() {
			break
		}
		m, err := p.ParseIn(n, text)
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		play(m)
	}
	span := p.board.Recurrence(1)
	if span == 0 {
		t.Fatalf("%s does not repeat a position", p)
	}
	for !p.Outcome().Over() {
		s := p.board.States()
		play(s[len(s)-span].Move)
	}
	return p.Outcome()
}
