package browser

import "testing"

// tour shows the screens of the page to look, one after the other, as Ann sees them.
// Bob has the same language and colours.
func tour(t testing.TB, watched *games, ann, bob *tab, look func(p *tab, screen string)) {
	t.Helper()
	ann.open("/")
	ann.see(act("play"))
	look(ann, "start")
	for game, move := range map[string]string{"gomoku": "h8", "amazons": "d1d7/b7"} {
		id := ann.play(setup{game: game, seat: "first"})
		ann.move(move)
		ann.see(mayMove)
		look(ann, game)
		ann.resign()
		ann.await(`document.documentElement.dataset.result`)
		ann.see(act("rematch"))
		look(ann, game+"-over")
		ann.open("/game/" + string(id) + "/0")
		ann.see(`.board svg`)
		look(ann, game+"-stepped")
	}
	tourReview(&friends{t: t, watched: watched, ann: ann, bob: bob}, look)
	tourOpenings(&friends{t: t, watched: watched, ann: ann, bob: bob}, look)
	tourLinks(ann, bob, look)
	tourLists(ann, bob, look)
}

// tourReview lets Ann make mistakes in a game of Xiangqi, and look at them afterwards.
func tourReview(f *friends, look func(*tab, string)) {
	f.t.Helper()
	ann := f.ann
	f.invite(setup{game: "xiangqi"})
	for _, moves := range [][2]string{{"h2h9", "i9h9"}, {"b2b9", "a9b9"}, {"a0a2", "g6g5"}, {"a2f2", "c6c5"}} {
		f.play(ann, moves[0])
		f.play(f.bob, moves[1])
	}
	ann.see(mayMove)
	look(ann, "xiangqi")
	if ann.device.touch {
		ann.tap(act("list"))
		look(ann, "sheet")
		ann.tap(act("close-list"))
	}
	f.bob.tap(act("draw"))
	f.bob.tap(act("yes-draw"))
	ann.see(act("draw-decline"))
	look(ann, "draw-offered")
	ann.tap(act("draw-decline"))
	ann.tap(act("resign"))
	ann.see(`dialog[open]`)
	look(ann, "resign")
	ann.tap(act("yes-resign"))
	ann.await(`document.documentElement.dataset.result`)
	ann.see(act("rematch"))
	look(ann, "xiangqi-over")
	ann.tap(act("review"))
	ann.see(`.review[data-complete="true"]`)
	look(ann, "review")
	ann.tap(act("onward"))
	ann.see(`dialog[open]`)
	look(ann, "onward")
	ann.tap(act("close"))
	ann.tap(act("retry"))
	ann.see(`[data-retry-state="ask"]`)
	look(ann, "retry")
	ann.choose("h2h3")
	ann.await(`/good|wrong/.test(document.querySelector(".retry").dataset.retryState)`)
	look(ann, "retry-judged")
	ann.tap(act("next"))
	ann.see(`[data-retry-state="ask"]`)
	ann.tap(act("show"))
	ann.see(`[data-retry-state="shown"]`)
	look(ann, "retry-shown")
}

// opening is the selector of the dialog in which a seat chooses.
const opening = `.opening[data-dialog="opening"]`

// tourOpenings goes through the dialogs of Soosyrv and swap2, and shows what is
// forbidden in Renju.
func tourOpenings(f *friends, look func(*tab, string)) {
	f.t.Helper()
	// The seat that chooses looks, whoever has it.
	choose := func(p *tab, screen, choice string) {
		f.t.Helper()
		p.see(opening + ` [data-move="` + choice + `"]`)
		look(p, screen)
		p.tap(`[data-move="` + choice + `"]`)
		p.await(`!document.querySelector('.opening:not([hidden])')`)
	}
	own := clockOf("10", "5")
	f.invite(setup{game: "gomoku", rules: "gomoku/renju-15+soosyrv-8", own: own})
	f.play(f.ann, "h8", "h9", "j9")
	choose(f.bob, "soosyrv-colour", "swap") // Bob is Black
	f.play(f.ann, "a1")
	choose(f.ann, "soosyrv-number", "fifths-2")
	choose(f.bob, "soosyrv-again", "stay")
	f.bob.see(mayMove)
	look(f.bob, "soosyrv-offer")
	f.play(f.bob, "offer:i7", "offer:g7")
	f.ann.see(mayMove)
	look(f.ann, "soosyrv-pick")
	f.invite(setup{game: "gomoku", rules: "gomoku/renju-15+swap2", own: own})
	f.play(f.ann, "g8", "a1", "i8")
	choose(f.bob, "swap2", "put-two")
	f.play(f.bob, "o1", "h7")
	choose(f.ann, "swap2-colour", "stay") // Ann is Black
	f.play(f.bob, "a15")
	f.play(f.ann, "h9")
	f.play(f.bob, "o15")
	f.ann.see(`.board .forbidden`)
	look(f.ann, "forbidden")
}

// tourLinks shows an invitation from both sides, the settings, the account, and the
// link to another device.
func tourLinks(ann, bob *tab, look func(*tab, string)) {
	ann.setUp(setup{game: "xiangqi"})
	ann.tapUntil(act("invite"), visible(`input[data-link]`))
	look(ann, "invite")
	link := ann.link()
	bob.open(link)
	bob.see(act("join"))
	look(bob, "invited")
	ann.tapAway(act("withdraw"))
	ann.see(act("play"))
	bob.open(link)
	bob.await(`document.querySelector("main.waiting a.button")`)
	look(bob, "invitation-gone")
	ann.tap(act("settings"))
	ann.see(`dialog[open]`)
	look(ann, "settings")
	ann.tap(act("close"))
	ann.tap(act("account"))
	ann.see(`dialog[open]`)
	look(ann, "account")
	ann.tap(act("device-link"))
	ann.see(`dialog input[data-link]`)
	look(ann, "account-link")
	bob.open(ann.link())
	look(bob, "device")
	ann.tap(act("erase"))
	ann.see(act("yes-erase"))
	look(ann, "erase")
}

// tourLists shows the pages that need no script, and a game that Ann watches.
func tourLists(ann, bob *tab, look func(*tab, string)) {
	id := bob.play(setup{game: "amazons", seat: "first"})
	ann.open("/games")
	ann.see(`.live`)
	look(ann, "live")
	ann.open("/game/" + string(id))
	ann.see(`.board svg`)
	look(ann, "watch")
	ann.open("/")
	ann.tapUntil(`.aside a[href^="/player/"]`, `document.querySelector(".finished")`)
	look(ann, "player")
	ann.tapUntil(`.finished a.name`, `!document.querySelector("h1 .tag")`)
	look(ann, "opponent")
	for screen, path := range map[string]string{"ladder": "/ladder", "rules-xiangqi": "/rules/xiangqi", "rules-gomoku": "/rules/gomoku", "rules-amazons": "/rules/amazons", "nowhere": "/nowhere"} {
		ann.open(path)
		look(ann, screen)
	}
}
