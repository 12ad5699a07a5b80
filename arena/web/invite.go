package web

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"sparring/arena/livegame"
	"sparring/arena/web/message"
	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
)

// invitation is what is stored of a link for a friend, under the hash of its token.
type invitation struct {
	V       int               `json:"v"`
	By      protocol.PlayerID `json:"by"`
	Terms   protocol.Terms    `json:"terms"`
	Seat    *game.Seat        `json:"seat,omitempty"` // of the inviter; random if absent
	Created time.Time         `json:"created"`
	Expires time.Time         `json:"expires"`
	Revoked bool              `json:"revoked,omitempty"`
	// TakenBy is who has accepted. Request is the id of the challenge that it sends,
	// so that a repetition of the acceptance is the same challenge.
	TakenBy protocol.PlayerID `json:"taken_by,omitempty"`
	Request string            `json:"request,omitempty"`
}

// open reports whether the invitation can be accepted.
func (i invitation) open(now time.Time) bool {
	return i.V == 1 && i.TakenBy == "" && !i.Revoked && now.Before(i.Expires)
}

// How long an invitation can be accepted, by whether people come and go during the
// game.
const (
	inviteFor               = 24 * time.Hour
	inviteForCorrespondence = 7 * 24 * time.Hour
)

// maxInvites bounds the open invitations of one person.
const maxInvites = 10

// expectFor is how long somebody who has been taken at its word is announced to the
// platform without a tab, so that a correspondence game begins, and how long the
// challenge waits.
const expectFor = 30 * time.Second

// errNotOpen is returned for an invitation that can't be accepted any more.
var errNotOpen = errors.New("the invitation was accepted or withdrawn, has expired, or never existed")

// Errors of steps that change nothing.
var (
	errAbsent   = errors.New("the other player is not here")
	errTooMany  = errors.New("too many of this person's invitations are open")
	errRepeated = errors.New("a repetition")
)

// Reasons of refusals, which the page has sentences for.
const (
	reasonAbsent      = "absent"       // who invites has no page open
	reasonAbsentOffer = "absent-offer" // who offers to continue has none
)

func absent(reason, name string) message.Answer {
	return message.Answer{Code: protocol.Unavailable, Reason: reason, Name: name, Text: "the other player is not here now"}
}

// live reports whether both players have to be here from the start of a game.
func live(t protocol.Terms) bool { return t.Clock.Speed() != clock.Correspondence }

// comeFor is how long a request waits for a person who is not here: it may be loading
// its page again, and another gateway announces it a moment after its page came.
const comeFor = 3 * time.Second

// isHere reports whether a person has a page open, on whatever gateway: people with
// open invitations and offers are announced to the platform meanwhile.
func (h *hub) isHere(ctx context.Context, id protocol.PlayerID) bool {
	for end := time.Now().Add(comeFor); ; sleep(ctx, 50*time.Millisecond) {
		h.mu.Lock()
		p := h.here[id]
		h.mu.Unlock()
		if p != nil && p.hasTab() || h.arena.Present(id) {
			return true
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return false
		}
	}
}

// invitesOf returns the open invitations of a person by their hashes.
func (s *agreements) invitesOf(p protocol.PlayerID) map[string]invitation {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make(map[string]invitation)
	now := time.Now()
	for hash, i := range s.invites {
		if !now.Before(i.Expires) {
			delete(s.invites, hash)
		} else if i.By == p {
			list[hash] = i
		}
	}
	return list
}

func (h *hub) invite(ctx context.Context, t *tab, r message.Request) message.Answer {
	if a, ok := allow(t.here.challenges, "challenges"); !ok {
		return a
	}
	if r.Terms == nil {
		return message.Refused(protocol.Malformed, "terms: missing")
	}
	if _, e := livegame.SetupRequested(*r.Terms); e != nil {
		return message.Refused(e.Code, e.Text)
	}
	// A repetition through another gateway makes the same link.
	now, token := time.Now().UTC(), t.secretID("invite "+string(t.ID)+" "+r.ID)
	inv := invitation{V: 1, By: t.ID, Terms: *r.Terms, Seat: r.Seat, Created: now, Expires: now.Add(inviteFor)}
	if r.Terms.Clock.Speed() == clock.Correspondence {
		inv.Expires = now.Add(inviteForCorrespondence)
	}
	hash := hashed(token)
	stored, err := changeEntry(ctx, h.agreements, "invite."+hash, func(i *invitation) error {
		switch {
		case i.By == t.ID:
			return errRepeated
		case len(h.agreements.invitesOf(t.ID)) >= maxInvites:
			return errTooMany
		}
		*i = inv
		return nil
	})
	a := message.Answer{Token: token, URL: t.base + "/invite/" + token, Expires: stored.Expires}
	switch {
	case errors.Is(err, errTooMany):
		return message.Refused(protocol.RateLimited, err.Error())
	case errors.Is(err, errRepeated):
		a.Code = protocol.Duplicate
	case err != nil:
		return h.notStored(err)
	}
	t.here.keepToken(hash, token)
	h.lobbies.refresh(t.ID)
	return a
}

// notStored answers a request whose result could not be stored.
func (h *hub) notStored(err error) message.Answer {
	if errors.Is(err, errTaken) {
		return message.Refused(protocol.NotOffered, err.Error())
	}
	h.log.Warn().Err(err).Msg("agreement not stored")
	return message.Refused(protocol.Unavailable, "this can't be stored now")
}

// uninvite revokes an invitation, named by its token or as the lobby lists it.
func (h *hub) uninvite(ctx context.Context, t *tab, r message.Request) message.Answer {
	hash := hashed(r.Token)
	if _, mine := h.agreements.invitesOf(t.ID)[r.Token]; mine {
		hash = r.Token
	}
	_, err := changeEntry(ctx, h.agreements, "invite."+hash, func(i *invitation) error {
		if i.By != t.ID || !i.open(time.Now()) {
			return errNotOpen
		}
		i.Revoked = true
		return nil
	})
	if errors.Is(err, errNotOpen) {
		return message.Refused(protocol.NotOffered, err.Error())
	}
	if err != nil {
		return h.notStored(err)
	}
	return message.Answer{}
}

// invited says what a link invites to.
func (h *hub) invited(ctx context.Context, t *tab, r message.Request) message.Answer {
	i, _, err := readEntry[invitation](ctx, h.agreements, "invite."+hashed(r.Token))
	if err != nil {
		return h.notStored(err)
	}
	if !i.open(time.Now()) && (i.TakenBy == "" || i.TakenBy != t.ID) {
		return message.Refused(protocol.NotOffered, errNotOpen.Error())
	}
	a := message.Answer{Expires: i.Expires, Terms: &i.Terms, Seat: other(i.Seat), Player: i.By}
	if i.By == t.ID {
		a.URL = t.base + "/invite/" + r.Token
		t.here.keepToken(hashed(r.Token), r.Token) // it may be unknown to this gateway
	}
	if who, err := h.people.get(ctx, i.By); err == nil {
		a.Name = who.Name
	}
	return a
}

func other(seat *game.Seat) *game.Seat {
	if seat == nil {
		return nil
	}
	o := seat.Other()
	return &o
}

// join accepts an invitation: the person challenges the inviter, whose client
// accepts.
func (h *hub) join(ctx context.Context, t *tab, r message.Request) message.Answer {
	if a, ok := allow(t.here.challenges, "challenges"); !ok {
		return a
	}
	key := "invite." + hashed(r.Token)
	i, err := changeEntry(ctx, h.agreements, key, func(i *invitation) error {
		switch {
		case i.TakenBy == t.ID:
			return nil // a repetition
		case i.By == t.ID:
			return errTaken
		case !i.open(time.Now()):
			return errNotOpen
		case live(i.Terms) && !h.isHere(ctx, i.By):
			return errAbsent
		}
		i.TakenBy, i.Request = t.ID, protocol.NewID()
		return nil
	})
	switch {
	case errors.Is(err, errNotOpen):
		return message.Refused(protocol.NotOffered, err.Error())
	case errors.Is(err, errAbsent):
		who, _ := h.people.get(ctx, i.By) // without a name if it can't be read
		return absent(reasonAbsent, who.Name)
	case errors.Is(err, errTaken) && i.By == t.ID:
		return message.Refused(protocol.Denied, "this is your own invitation")
	case err != nil:
		return h.notStored(err)
	}
	a := h.between(ctx, t.here, i.By, protocol.ChallengeRequest{
		Header: protocol.Header{ID: i.Request}, Terms: i.Terms, Seat: other(i.Seat), Opponent: i.By,
	})
	gone := a.Game != "" && h.cameToNothing(ctx, a.Game)
	if gone {
		a = message.Refused(protocol.Unavailable, "the game could not begin; try again")
	}
	if gone || a.Code != "" && a.Code != protocol.Accepted && a.Code != protocol.Duplicate && a.Code != protocol.Unavailable {
		// The platform refuses the challenge, or it has expired: the friend may try again.
		if _, err := changeEntry(ctx, h.agreements, key, func(i *invitation) error { i.TakenBy, i.Request = "", ""; return nil }); err != nil {
			h.log.Warn().Err(err).Msg("invitation stays accepted")
		}
	}
	return a
}

// cameToNothing reports whether a challenge has ended without a game.
func (h *hub) cameToNothing(ctx context.Context, g protocol.GameID) bool {
	e, _, err := h.arena.Game(ctx, g)
	return err == nil && e.Status == protocol.Finished && !started(&e.Snapshot)
}

// between makes a game of two people who have agreed on it: one challenges the
// other, whose client accepts the offer, wherever the other is.
func (h *hub) between(ctx context.Context, by *participant, other protocol.PlayerID, m protocol.ChallengeRequest) message.Answer {
	name := ""
	if who, err := h.people.get(ctx, other); err == nil {
		name = who.Name
	}
	p := h.participant(other, name)
	if !live(m.Terms) {
		p.expect(expectFor)
	}
	if !live(m.Terms) || p.hasTab() { // else another gateway announces it
		if err := p.ready(ctx); err != nil {
			return message.Refused(protocol.Unavailable, "the platform does not answer now")
		}
	}
	m.ExpireMS = expectFor.Milliseconds()
	return by.challenge(ctx, m)
}

// keepToken remembers the token of an own invitation, of which only the hash is
// stored, so that the link can be shown again.
func (p *participant) keepToken(hash, token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tokens == nil {
		p.tokens = make(map[string]string)
	}
	p.tokens[hash] = token
}

// invites lists the person's open invitations; base begins their links.
func (p *participant) invites(base string) []message.Waiting {
	open := p.hub.agreements.invitesOf(p.id)
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []message.Waiting
	for hash, i := range open {
		w := message.Waiting{Invite: hash, Terms: i.Terms, Expires: i.Expires}
		if w.Token = p.tokens[hash]; w.Token != "" {
			w.URL = base + "/invite/" + w.Token
		}
		list = append(list, w)
	}
	for hash := range p.tokens {
		if _, ok := open[hash]; !ok && len(p.tokens) > maxInvites {
			delete(p.tokens, hash)
		}
	}
	slices.SortFunc(list, func(x, y message.Waiting) int {
		return cmp.Or(x.Expires.Compare(y.Expires), cmp.Compare(x.Invite, y.Invite))
	})
	return list
}
