package screens

import (
	"testing"

	"sparring/arena/web/browser"
)

// tour shows the screens of the page to look, one after the other, as Ann sees them.
// Bob has the same language and colours.
func tour(t testing.TB, watched *browser.Games, ann, bob *browser.Tab, look func(p *browser.Tab, screen string)) {
	t.Helper()
	ann.Open("/")
	ann.See(browser.Act("play"))
	look(ann, "start")
	for game, move := range map[string]string{"gomoku": "h8", "amazons": "d1d7/b7"} {
		id := ann.Play(browser.Setup{Game: game, Seat: "first"})
		ann.Move(move)
		ann.See(browser.MayMove)
		look(ann, game)
		ann.Resign()
		ann.Await(`document.documentElement.dataset.result`)
		ann.See(browser.Act("rematch"))
		look(ann, game+"-over")
		ann.Open("/game/" + string(id) + "/0")
		ann.See(`.board svg`)
		look(ann, game+"-stepped")
	}
	tourReview(&browser.Friends{T: t, Watched: watched, Ann: ann, Bob: bob}, look)
	tourOpenings(&browser.Friends{T: t, Watched: watched, Ann: ann, Bob: bob}, look)
	tourLinks(ann, bob, look)
	tourLists(ann, bob, look)
}

// tourReview lets Ann make mistakes in a game of Xiangqi, and look at them afterwards.
func tourReview(f *browser.Friends, look func(*browser.Tab, string)) {
	f.T.Helper()
	ann := f.Ann
	f.Invite(browser.Setup{Game: "xiangqi"})
	for _, moves := range [][2]string{{"h2h9", "i9h9"}, {"b2b9", "a9b9"}, {"a0a2", "g6g5"}, {"a2f2", "c6c5"}} {
		f.Play(ann, moves[0])
		f.Play(f.Bob, moves[1])
	}
	ann.See(browser.MayMove)
	look(ann, "xiangqi")
	if ann.Device.Touch {
		ann.Tap(browser.Act("list"))
		look(ann, "sheet")
		ann.Tap(browser.Act("close-list"))
	}
	f.Bob.Tap(browser.Act("draw"))
	f.Bob.Tap(browser.Act("yes-draw"))
	ann.See(browser.Act("draw-decline"))
	look(ann, "draw-offered")
	ann.Tap(browser.Act("draw-decline"))
	ann.Tap(browser.Act("resign"))
	ann.See(`dialog[open]`)
	look(ann, "resign")
	ann.Tap(browser.Act("yes-resign"))
	ann.Await(`document.documentElement.dataset.result`)
	ann.See(browser.Act("rematch"))
	look(ann, "xiangqi-over")
	ann.Tap(browser.Act("review"))
	ann.See(`.review[data-complete="true"]`)
	look(ann, "review")
	ann.Tap(browser.Act("onward"))
	ann.See(`dialog[open]`)
	look(ann, "onward")
	ann.Tap(browser.Act("close"))
	ann.Tap(browser.Act("retry"))
	ann.See(`[data-retry-state="ask"]`)
	look(ann, "retry")
	ann.Choose("h2h3")
	ann.Await(`/good|wrong/.test(document.querySelector(".retry").dataset.retryState)`)
	look(ann, "retry-judged")
	ann.Tap(browser.Act("next"))
	ann.See(`[data-retry-state="ask"]`)
	ann.Tap(browser.Act("show"))
	ann.See(`[data-retry-state="shown"]`)
	look(ann, "retry-shown")
}

// tourOpenings goes through the dialogs of Soosyrv and swap2, and shows what is
// forbidden in Renju.
func tourOpenings(f *browser.Friends, look func(*browser.Tab, string)) {
	f.T.Helper()
	// The seat that chooses looks, whoever has it.
	choose := func(p *browser.Tab, screen, choice string) {
		f.T.Helper()
		p.See(browser.Opening + ` [data-move="` + choice + `"]`)
		look(p, screen)
		p.Tap(`[data-move="` + choice + `"]`)
		p.Await(`!document.querySelector('.opening:not([hidden])')`)
	}
	own := browser.ClockOf("10", "5")
	f.Invite(browser.Setup{Game: "gomoku", Rules: "gomoku/renju-15+soosyrv-8", Own: own})
	f.Play(f.Ann, "h8", "h9", "j9")
	choose(f.Bob, "soosyrv-colour", "swap") // Bob is Black
	f.Play(f.Ann, "a1")
	choose(f.Ann, "soosyrv-number", "fifths-2")
	choose(f.Bob, "soosyrv-again", "stay")
	f.Bob.See(browser.MayMove)
	look(f.Bob, "soosyrv-offer")
	f.Play(f.Bob, "offer:i7", "offer:g7")
	f.Ann.See(browser.MayMove)
	look(f.Ann, "soosyrv-pick")
	f.Invite(browser.Setup{Game: "gomoku", Rules: "gomoku/renju-15+swap2", Own: own})
	f.Play(f.Ann, "g8", "a1", "i8")
	choose(f.Bob, "swap2", "put-two")
	f.Play(f.Bob, "o1", "h7")
	choose(f.Ann, "swap2-colour", "stay") // Ann is Black
	f.Play(f.Bob, "a15")
	f.Play(f.Ann, "h9")
	f.Play(f.Bob, "o15")
	f.Ann.See(`.board .forbidden`)
	look(f.Ann, "forbidden")
}

// tourLinks shows an invitation from both sides, the settings, the account, and the
// link to another device.
func tourLinks(ann, bob *browser.Tab, look func(*browser.Tab, string)) {
	ann.SetUp(browser.Setup{Game: "xiangqi"})
	ann.TapUntil(browser.Act("invite"), browser.Visible(`input[data-link]`))
	look(ann, "invite")
	link := ann.Link()
	bob.Open(link)
	bob.See(browser.Act("join"))
	look(bob, "invited")
	ann.TapAway(browser.Act("withdraw"))
	ann.See(browser.Act("play"))
	bob.Open(link)
	bob.Await(`document.querySelector("main.waiting a.button")`)
	look(bob, "invitation-gone")
	ann.Tap(browser.Act("settings"))
	ann.See(`dialog[open]`)
	look(ann, "settings")
	ann.Tap(browser.Act("close"))
	ann.Tap(browser.Act("account"))
	ann.See(`dialog[open]`)
	look(ann, "account")
	ann.Tap(browser.Act("device-link"))
	ann.See(`dialog input[data-link]`)
	look(ann, "account-link")
	bob.Open(ann.Link())
	look(bob, "device")
	ann.Tap(browser.Act("erase"))
	ann.See(browser.Act("yes-erase"))
	look(ann, "erase")
}

// tourLists shows the pages that need no script, and a game that Ann watches.
func tourLists(ann, bob *browser.Tab, look func(*browser.Tab, string)) {
	id := bob.Play(browser.Setup{Game: "amazons", Seat: "first"})
	ann.Open("/games")
	ann.See(`.live`)
	look(ann, "live")
	ann.Open("/game/" + string(id))
	ann.See(`.board svg`)
	look(ann, "watch")
	ann.Open("/")
	ann.TapUntil(`.aside a[href^="/player/"]`, `document.querySelector(".finished")`)
	look(ann, "player")
	ann.TapUntil(`.finished a.name`, `!document.querySelector("h1 .tag")`)
	look(ann, "opponent")
	for screen, path := range map[string]string{"ladder": "/ladder", "rules-xiangqi": "/rules/xiangqi", "rules-gomoku": "/rules/gomoku", "rules-amazons": "/rules/amazons", "nowhere": "/nowhere"} {
		ann.Open(path)
		look(ann, screen)
	}
}
