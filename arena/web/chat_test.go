package web

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/protocol"
)

// chat returns what the page was told in a game, in the order in which it was said, without
// repetitions; p.mu is held.
func (p *socketPage) chat(g protocol.GameID) (texts []string) {
	said := map[int64]string{}
	for _, n := range p.notices {
		if n.Kind == protocol.NoticeChat && n.Game == g {
			said[n.Said] = n.Text
		}
	}
	for _, at := range slices.Sorted(maps.Keys(said)) {
		texts = append(texts, said[at])
	}
	return texts
}

// reads waits until the page was told these messages, and no others.
func (p *socketPage) reads(g protocol.GameID, want ...string) {
	p.t.Helper()
	var got []string
	defer func() {
		if p.t.Failed() {
			p.t.Logf("told: %q", got)
		}
	}()
	p.until(fmt.Sprintf("the chat %q", want), func() bool { got = p.chat(g); return slices.Equal(got, want) })
}

// What programs say is shown as what people say: only if it can be shown safely. Emoji and
// scripts that need joiners can.
func TestChatOfPrograms(t *testing.T) {
	t.Parallel()
	p := &participant{}
	for i, text := range []string{"well played", "\u202egnp.exe", "z\u0300\u0301\u0302\u0303algo", "\u2800\u2800", "好棋",
		"🤷\u200d♀\ufe0f", "می\u200cبینم", "a\u200d\u200d", "\u200d", "a \u200c"} {
		p.notice(protocol.Notice{Kind: protocol.NoticeChat, ID: fmt.Sprint("t", i), Game: "g1", From: "eve", Text: text})
	}
	// A new arena does not know what an old one has passed on. An id is that of one game.
	for _, g := range []protocol.GameID{"g1", "g2"} {
		p.notice(protocol.Notice{Kind: protocol.NoticeChat, ID: "t0", Game: g, From: "eve", Text: "in " + string(g)})
	}
	var shown []string
	for _, n := range p.lines {
		shown = append(shown, n.Text)
	}
	if want := []string{"well played", "好棋", "🤷\u200d♀\ufe0f", "می\u200cبینم", "in g2"}; !slices.Equal(shown, want) {
		t.Errorf("shown: %q, want %q", shown, want)
	}
}

// TestChatAgain: a page that was away while something was said, by its own person or
// by the other, is told so when it is back. Spectators are not, and other games have
// other messages.
func TestChatAgain(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	gw := startGateway(t, srv, quick(), nil)
	ann, ben := openPage(t, gw, human("ann")), openPage(t, gw, human("ben"))
	casual := terms(t, "gomoku/freestyle-15", "300+2")
	other, g := befriend(t, ann, ben, casual), befriend(t, ann, ben, casual)
	say := func(p *socketPage, g protocol.GameID, text string) {
		p.t.Helper()
		p.want(message.Request{T: "chat", Game: g, Text: text})
	}
	say(ben, other, "elsewhere")
	say(ben, g, "one")
	ann.reads(g, "one")

	ann.close()
	say(ben, g, "two")
	ben.reads(g, "one", "two")
	ann = openPage(t, gw, human("ann"))
	ann.want(message.Request{T: "open", Game: g})
	ann.reads(g, "one", "two")
	ann.reads(other)

	// Hers is written, and its answer lost with the connection.
	say(ann, g, "three")
	ann.close()
	ann = openPage(t, gw, human("ann"))
	ann.want(message.Request{T: "open", Game: g})
	ann.reads(g, "one", "two", "three")
	ben.reads(g, "one", "two", "three")

	// What she says before her page follows the game again comes to it first.
	ann.close()
	say(ben, g, "four")
	ann = openPage(t, gw, human("ann"))
	say(ann, g, "five")
	ann.reads(g, "five")
	ann.want(message.Request{T: "open", Game: g})
	ann.reads(g, "one", "two", "three", "four", "five")

	eve := openPage(t, gw, human("eve"))
	eve.want(message.Request{T: "open", Game: g})
	eve.state(g, "for her", plies(0))
	say(ben, g, "six")
	ann.reads(g, "one", "two", "three", "four", "five", "six")
	eve.want(message.Request{T: "open", Game: g})
	eve.reads(g)

	p := gw.participant(human("ann"), "")
	for i := range 2 * keptLines {
		p.tellChat(protocol.Notice{Kind: protocol.NoticeChat, Game: g, From: human("ben"), ID: fmt.Sprint(i)})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.lines); n != keptLines {
		t.Errorf("%d messages are kept, want %d", n, keptLines)
	}
}
