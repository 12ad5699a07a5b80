package web

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sparring/arena/web/message"
	"sparring/protocol"
)

// maxChat is how many characters a message may have.
const maxChat = 500

// reasonUnreadable is the reason of the refusal of a message that is not readable.
const reasonUnreadable = "unreadable"

// Characters that are not seen, but join or part the letters around them, as Persian and
// many emoji need them: a woman who shrugs is 🤷 and ♀, joined.
const nonJoiner, joiner = '\u200c', '\u200d'

// readable reports whether a message can be shown safely: it has no characters that
// are not seen or that change how the text around them is read.
func readable(text string) bool {
	if len(text) > 16*maxChat || utf8.RuneCountInString(text) > maxChat || strings.TrimSpace(text) == "" {
		return false
	}
	marks, joinable := 0, false
	for _, r := range text {
		if joinable && (r == joiner || r == nonJoiner) {
			joinable = false
			continue
		}
		joinable = !unicode.IsSpace(r)
		switch {
		case r == unicode.ReplacementChar || !unicode.IsGraphic(r) || unicode.Is(protocol.Blank, r) && r < 0xfe00:
			return false // IsGraphic excludes control and format characters, which bidi marks are
		case unicode.IsMark(r):
			if marks++; marks > 2 {
				return false // would reach into the lines above
			}
		default:
			marks = 0
		}
	}
	return true
}

func (h *hub) chat(ctx context.Context, t *tab, r message.Request) message.Answer {
	p := t.here
	if !readable(r.Text) {
		return message.Answer{Code: protocol.Malformed, Reason: reasonUnreadable, Text: "text: want 1 to 500 visible characters"}
	}
	if a, ok := allow(p.chats, "messages"); !ok {
		return a
	}
	var opponent protocol.PlayerID
	a := p.act(ctx, r.Game, func(s seated) (protocol.ActAnswer, error) {
		opponent = s.Holders[s.seat.Other()].Player
		if s.Holders[s.seat.Other()].Kind != protocol.Human {
			return protocol.ActAnswer{}, protocol.Refuse(protocol.Denied, "the opponent does not read messages")
		}
		return p.client.SendChat(ctx, r.Game, protocol.ChatRequest{Header: protocol.Header{ID: r.ID}, Epoch: s.epoch, Text: r.Text})
	})
	if a.Code == "" || a.Code == protocol.Accepted || a.Code == protocol.Duplicate {
		// The platform tells an opponent who is announced to it. One whose page has lost its
		// connection may not be, and comes back to this gateway.
		said := protocol.Notice{Kind: protocol.NoticeChat, ID: r.ID, Game: r.Game, From: p.id, Text: r.Text}
		p.tellChat(said)
		h.mu.Lock()
		other := h.here[opponent]
		h.mu.Unlock()
		if other != nil {
			other.tellChat(said)
		}
	}
	return a
}

// keptLines is how many chat messages of all games of a person are remembered.
const keptLines = 20

// tellChat tells the person's pages a chat message of one of its games, once. It is
// remembered as long as the person is here, for a page that gets nothing just now.
func (p *participant) tellChat(n protocol.Notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.ContainsFunc(p.lines, func(o message.Notice) bool {
		return o.Game == n.Game && o.From == n.From && o.ID == n.ID && n.ID != ""
	}) {
		return
	}
	said := message.Notice{T: "notice", Notice: n, Said: time.Now().UnixMilli()}
	if k := len(p.lines); k > 0 {
		said.Said = max(said.Said, p.lines[k-1].Said+1)
	}
	p.lines = append(p.lines, said)
	p.lines = slices.Clone(p.lines[max(0, len(p.lines)-keptLines):])
	for t := range p.tabs {
		t.send("", said)
	}
}

// tellChatAgain tells a page of the person the chat messages of a game again. It drops those
// that it has.
func (p *participant) tellChatAgain(t *tab, g protocol.GameID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.lines {
		if n.Game == g {
			t.send("", n)
		}
	}
}
