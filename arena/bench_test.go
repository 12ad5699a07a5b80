package arena

import (
	"context"
	"testing"

	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/protocol"
)

// BenchmarkMove is one move from the player's request to its answer: over the
// wire, through the rules, into the log on disk, with the states to both players.
func BenchmarkMove(b *testing.B) {
	srv := arenatest.StartServer(b, "", "ann", "bob")
	prepareArenaLog(b, srv, quick(), zerolog.Nop()).start()
	ann, bob := join(b, srv, "ann", "a1"), join(b, srv, "bob", "b1")
	for _, p := range []*player{ann, bob} {
		p.set(func(p *player) { p.play = nil })
	}
	terms := small(b, "3600")
	terms.Rules = "amazons/10x10"
	ctx := context.Background()
	var g protocol.GameID
	var pos game.Position
	for b.Loop() {
		if pos == nil || pos.Outcome().Over() {
			b.StopTimer()
			g = ann.challenge("bob", terms, game.First)
			ann.until(g, "the start", plies(0))
			pos = position0(b, terms)
			b.StartTimer()
		}
		p := ann
		if pos.Turn() == game.Second {
			p = bob
		}
		move := pos.Legal(nil)[0]
		text := pos.Format(move)
		if err := pos.Play(move); err != nil {
			b.Fatal(err)
		}
		if _, err := p.Move(ctx, g, 1, pos.Ply()-1, text, game.KeyText(pos.Key())); err != nil {
			b.Fatal(err)
		}
	}
}
