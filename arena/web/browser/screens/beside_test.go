package screens

import (
	"fmt"
	"testing"

	"sparring/arena/web/browser"
)

// cramped is an expression: what is wrong with what stands beside a game, where somebody has to
// move: parts that lie over others, a list of moves without room, a field for messages out of sight.
const cramped = `(() => {
	const box = (s) => document.querySelector(s).getBoundingClientRect(), sheet = box(".sheet"), wrong = [];
	const parts = [".sheet [data-terms]", ".moves", ".sheet input[type=range]", ".sheet input[name=move]", ".chat", ".sheet input[name=chat]", '.sheet [data-act="share"]'];
	parts.slice(1).forEach((s, i) => box(parts[i]).bottom > box(s).top + 0.5 && wrong.push(parts[i] + " lies over " + s));
	if (box(".sheet input[type=range]").bottom > box(".sheet form label").top + 0.5) wrong.push("the slider lies over a label");
	if (box(".moves").height < 60) wrong.push("moves " + box(".moves").height);
	if (box(".chat").height < 30) wrong.push("chat " + box(".chat").height);
	if (box(".sheet input[name=chat]").bottom > sheet.bottom + 0.5) wrong.push("the field for messages is cut off");
	return wrong.join("; ");
})()`

// TestChatLeavesRoom: however much is said, the list of moves, the field for a move and that for
// messages stay in sight beside the board, and nothing lies over anything else.
func TestChatLeavesRoom(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := &browser.Friends{T: t, Watched: w.Watch(t), Ann: browser.NewPerson(t, "ann", browser.Desktop, w.At).Tab, Bob: browser.NewPerson(t, "bob", browser.Desktop, w.At).Tab}
	f.Invite(browser.Setup{Game: "gomoku", Own: browser.ClockOf("30", "20")})
	f.Bob.See(`input[name="chat"]`)
	for i := range 5 {
		f.Bob.Set(`input[name="chat"]`, fmt.Sprintf("Good luck and have fun, message number %d, see you", i+1))
		f.Bob.Tap(browser.Act("chat"))
		f.Bob.Await(`document.querySelector('input[name="chat"]').value === ""`)
	}
	f.Ann.Await(`document.querySelectorAll(".chat li").length === 5`)
	f.Ann.See(`input[name="move"]`)
	for _, played := range []bool{false, true} {
		if played {
			f.Play(f.Ann, "h8")
			f.Play(f.Bob, "h9")
			f.Ann.See(browser.MayMove)
		}
		for _, size := range [][2]int64{{1024, 600}, {1280, 720}, {1366, 768}, {1280, 800}} {
			f.Ann.Resize(size[0], size[1])
			f.Ann.Await(fmt.Sprintf(`innerHeight === %d`, size[1]))
			f.Ann.Await(`(e => e.scrollTop + e.clientHeight > e.scrollHeight - 2)(document.querySelector(".chat"))`) // the last words are in sight
			if wrong := browser.Eval[string](f.Ann, cramped); wrong != "" {
				t.Errorf("at %v, moves played: %t: %s", size, played, wrong)
			}
		}
	}
}

// TestFirstMoveUnderOffer: while an offer lies over the line below the board, how much time is
// left for the first move stands beside the clock.
func TestFirstMoveUnderOffer(t *testing.T) {
	t.Parallel()
	w := browser.NewWorld(t, "SPARRING_ARENA_FIRST_MOVE=6m") // sooner than the clock runs out
	f := browser.Meet(t, w, w.Watch(t), browser.Setup{Game: "gomoku"})
	f.Bob.Tap(browser.Act("draw"))
	f.Bob.Tap(browser.Act("yes-draw"))
	f.Ann.See(browser.Act("draw-accept"))
	for _, size := range [][2]int64{{360, 640}, {1280, 800}} {
		f.Ann.Resize(size[0], size[1])
		f.Ann.Await(fmt.Sprintf(`innerHeight === %d`, size[1]))
		f.Ann.Await(`[...document.querySelectorAll(".seat.bottom .more span")].some((e) => /^First move within \d/.test(e.textContent) && e.offsetLeft + e.offsetWidth <= e.parentElement.offsetLeft + e.parentElement.clientWidth)`)
	}
	f.Ann.Move("h8")
	f.Ann.Await(`!document.querySelector(".seat.bottom").innerText.includes("First move")`)
}
