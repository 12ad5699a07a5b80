package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"sparring/game"
)

// TestBoardDraws shows all games on screens of several sizes: every piece is
// drawn, the board is as wide as the screen, and nothing scrolls.
func TestBoardDraws(t *testing.T) {
	t.Parallel()
	p := openBoard(t, 360, 640, "")
	for _, rules := range []string{"xiangqi/simple", "gomoku/freestyle-15", "gomoku/renju-15", "gomoku/freestyle-20", "amazons/10x10"} {
		v, err := viewAfter(rules, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, width := range []int64{320, 360, 1280} {
			for _, pieces := range []string{"characters", "pictures"} {
				p.resize(width, 640)
				p.js(fmt.Sprintf("board.set({pieces: %q})", pieces))
				p.show(rules, "", "")
				p.is("document.querySelectorAll('.board-drawing .piece').length", fmt.Sprint(len(v.Pieces)))
				p.is("document.querySelectorAll('[role=grid] > [role=row] > [role=gridcell][data-point][aria-label]').length", fmt.Sprint(v.Columns*v.Rows))
				if width < 500 {
					p.is("document.querySelector('.board-drawing').getBoundingClientRect().width", fmt.Sprint(width))
					p.is("document.scrollingElement.scrollWidth", fmt.Sprint(width))
					p.is("document.scrollingElement.scrollHeight <= 640", "true")
				}
			}
		}
	}
	p.told()
}

func TestBoardTaps(t *testing.T) {
	t.Parallel()
	p := openBoard(t, 360, 640, "")
	p.show("xiangqi/simple", "", "")
	p.tap("b2")
	p.is("board.chosen.join()", "") // it is not the person's turn
	p.js("board.may = 'move'")

	p.tap("b2")
	p.is("board.chosen.join()", "b2")
	p.is("document.querySelectorAll('.target, .capture').length", "12")
	p.tap("h2")
	p.is("board.chosen.join()", "h2") // another piece of one's own
	p.tap("h2")
	p.is("board.chosen.join()", "") // the same again
	p.told()

	p.tap("b2", "a4")
	p.is("board.chosen.join()", "")
	p.told("refused b2 a4")
	p.tap("b7", "e5")
	p.told("refused b7") // the opponent's piece; an empty point means nothing

	p.tap("b2", "e2")
	p.told("move b2e2")
	p.is("document.querySelector('[data-point=e2]').ariaLabel", "e2, red cannon, last move")
	p.tap("h2", "h4")
	p.told() // the move is not accepted yet
	p.js("board.pending(null)")
	p.is("document.querySelector('[data-point=b2]').ariaLabel", "b2, red cannon")
	p.tap("h2", "e2")
	p.told("move h2e2")
	p.js("board.may = 'none'")
	p.show("xiangqi/simple", "h2e2", "")
	p.is("document.querySelector('[data-point=e2]').ariaLabel", "e2, red cannon, last move")
}

func TestBoardDrags(t *testing.T) {
	t.Parallel()
	p := openBoard(t, 360, 640, "")
	p.show("xiangqi/simple", "", "")
	p.js("board.may = 'move'")
	drag := func(from, to string) {
		t.Helper()
		p.down(from)
		p.along("d4")
		p.is("document.querySelectorAll('.lifted').length", "1")
		p.is("document.querySelectorAll('.crosshair').length", "1") // where it would land
		p.along(to)
		p.up()
		p.is("document.querySelectorAll('.lifted').length", "0")
	}
	drag("h2", "h2")
	p.is("board.chosen.join()", "h2") // dropped where it was
	drag("h2", "g4")
	p.told("refused h2 g4")
	p.is("board.chosen.join()", "")
	drag("h2", "e2")
	p.told("move h2e2")

	p.show("xiangqi/simple", "h2e2 h9g7", "")
	fromX, fromY := p.at("h0")
	toX, toY := p.at("g2")
	p.do(chromedp.DragAndDropXY(fromX, fromY, toX, toY))
	p.told("move h0g2")
	p.is("scrollY", "0")
}

// TestBoardAims plays on points that are too close for a finger: it aims, and a
// button plays.
func TestBoardAims(t *testing.T) {
	t.Parallel()
	p := openBoard(t, 360, 640, "")
	p.js("board.may = 'move'")
	p.show("gomoku/freestyle-15", "", "")
	p.is("board.mode", "aim")
	p.is("document.querySelector('[data-act=confirm]').disabled", "true")

	p.down("h8")
	p.is("document.querySelectorAll('.crosshair').length > 0", "true")
	_, y := p.at("h8")
	p.is(fmt.Sprintf("document.querySelector('.board-lens').getBoundingClientRect().bottom < %f - 20", y), "true")
	p.along("k14")
	p.is("(r => r.top >= 0 && r.left >= 0 && r.right <= innerWidth)(document.querySelector('.board-lens').getBoundingClientRect())", "true")
	p.along("k11")
	p.up()
	p.is("document.querySelector('.board-lens').hidden", "true")
	p.is("board.aimed", "k11")
	p.told()

	p.tap("c3") // aims elsewhere
	p.is("board.aimed", "c3")
	p.press("cancel")
	p.is("board.aimed", "<nil>")
	p.tap("c4", "d4")
	before := "JSON.stringify(document.querySelector('[data-act=confirm]').getBoundingClientRect())"
	place := value[string](p, before)
	p.press("confirm")
	p.is(before, place) // nothing moves under the finger
	p.told("move d4")

	p.show("gomoku/freestyle-15", "d4 e4", "")
	p.tap("e4")
	p.told("refused e4")
	p.js("board.set({input: 'tap'})")
	p.tap("e5")
	p.told("move e5")
}

func TestBoardConfirms(t *testing.T) {
	t.Parallel()
	p := openBoard(t, 360, 640, "input=confirm")
	p.js("board.may = 'move'")
	p.show("xiangqi/simple", "", "")
	p.tap("b2", "e2")
	p.is("board.aimed", "b2e2")
	p.is("document.querySelector('[data-point=e2]').ariaLabel", "e2, red cannon, chosen")
	p.tap("d2")
	p.is("board.aimed", "b2d2")
	p.told()
	p.press("confirm")
	p.told("move b2d2")

	p.show("xiangqi/simple", "h2e2 h9g7", "") // aimed at on a phone on its side, which is turned then
	p.tap("h0", "g2")
	p.js("board.set({input: 'tap'})")
	p.is("document.querySelector('[data-act=confirm]').checkVisibility()", "true")
	p.press("confirm")
	p.told("move h0g2")
	p.is("document.querySelector('[data-act=confirm]').checkVisibility()", "false")
}

// TestBoardChanges lets a position arrive while the person chooses a move: what
// was chosen for another position is dropped and never played.
func TestBoardChanges(t *testing.T) {
	t.Parallel()
	p := openBoard(t, 360, 640, "input=tap")
	p.js("board.may = 'move'")
	p.show("gomoku/freestyle-15", "", "")
	p.down("h8")
	p.show("gomoku/freestyle-15", "a1 b1", "")
	p.up()
	p.told()

	p.show("xiangqi/simple", "", "")
	p.tap("b2")
	p.show("xiangqi/simple", "", "") // the same position again: a clock, an offer
	p.is("board.chosen.join()", "b2")
	p.show("xiangqi/simple", "h2e2 h9g7", "")
	p.is("board.chosen.join()", "")
	p.is("document.querySelectorAll('.dropped').length", "1")
	p.is("document.querySelector('.board-live').textContent", "The position has changed. Choose again.")
	p.tap("b4")
	p.told()

	p.js("board.set({input: 'confirm'})")
	p.tap("b2", "b4")
	p.show("xiangqi/simple", "h2e2", "")
	p.is("document.querySelector('[data-act=confirm]').disabled", "true")
	p.told()
}

// TestBoardPressedLong: a press may be long, as those of people whose hands are slow, and on a busy machine. Its click,
// which some browsers send to the point, and which looks like that of assistive technology then, chooses nothing again,
// and plays nothing in a position that has come meanwhile.
func TestBoardPressedLong(t *testing.T) {
	t.Parallel()
	p := openBoard(t, 360, 640, "input=tap")
	p.js("board.may = 'move'")
	press := func(point string, meanwhile func()) {
		t.Helper()
		p.js(fmt.Sprintf(`window.touch = kind => {
			const e = document.querySelector("[data-point=%s]"), r = e.getBoundingClientRect();
			const at = {bubbles: true, isPrimary: true, pointerId: 1, pointerType: "mouse", clientX: r.x + r.width / 2, clientY: r.y + r.height / 2};
			e.dispatchEvent(new PointerEvent(kind, at));
		}`, point))
		p.js(`touch("pointerdown")`)
		meanwhile()
		time.Sleep(1100 * time.Millisecond)
		p.js(`touch("pointerup"); touch("click")`)
	}
	p.show("xiangqi/simple", "", "")
	press("b2", func() {})
	p.is("board.chosen.join()", "b2")
	press("e2", func() {})
	p.told("move b2e2")
	p.js("board.pending(null)")

	p.show("gomoku/freestyle-15", "", "")
	press("h8", func() { p.show("gomoku/freestyle-15", "a1 b1", "") })
	p.told()
}

// TestBoardZooms lets two fingers zoom the page: they choose nothing. One finger
// scrolls the page of somebody who only watches, and nobody else's.
func TestBoardZooms(t *testing.T) {
	t.Parallel()
	p := openBoard(t, 360, 640, "")
	p.show("gomoku/freestyle-15", "", "")
	touching := "getComputedStyle(document.querySelector('.board-box')).touchAction"
	p.is(touching, "auto")
	p.js("board.may = 'move'")
	p.is(touching, "pinch-zoom")
	p.fingers(input.DispatchTouchEventTypeTouchStart, "h8")
	p.fingers(input.DispatchTouchEventTypeTouchStart, "h8", "k11")
	p.is("document.querySelector('.board-lens').hidden", "true")
	p.fingers(input.DispatchTouchEventTypeTouchMove, "h9", "k12")
	p.fingers(input.DispatchTouchEventTypeTouchEnd)
	p.is("board.aimed", "<nil>")
	p.down("h8")
	p.fingers(input.DispatchTouchEventTypeTouchCancel)
	p.is("document.querySelector('.board-lens').hidden", "true")
	p.is("board.aimed", "<nil>")
	p.told()
}

// TestBoardTurns turns the board round: the same taps mean the same points.
func TestBoardTurns(t *testing.T) {
	t.Parallel()
	p := openBoard(t, 360, 640, "seat=second")
	p.js("board.may = 'move'")
	p.show("xiangqi/simple", "h2e2", "")
	_, black := p.at("e9")
	_, red := p.at("e0")
	if black < red {
		t.Errorf("e9 at %g, e0 at %g: want Black's side at the bottom", black, red)
	}
	p.tap("h9")
	p.js("board.flip()")
	if _, turned := p.at("e9"); turned != red {
		t.Errorf("e9 at %g after turning, want %g", turned, red)
	}
	p.is("board.chosen.join()", "h9")
	p.tap("g7")
	p.told("move h9g7")
}

// TestBoardAmazons takes back each step of a move; only the last one sends it.
func TestBoardAmazons(t *testing.T) {
	t.Parallel()
	p := openBoard(t, 360, 640, "")
	p.js("board.may = 'move'")
	p.show("amazons/10x10", "", "")
	p.tap("d1", "d7")
	p.is("document.querySelector('[data-point=d7]').ariaLabel", "d7, white amazon, chosen")
	p.told()
	p.press("cancel")
	p.is("board.chosen.join()", "d1")
	p.tap("d7", "d7") // the same again takes back, too
	p.is("board.chosen.join()", "d1")
	p.tap("d7", "j2") // no arrow flies there
	p.told("refused d1 j2")
	p.is("board.chosen.join()", "d1")
	p.tap("d7", "g1") // another amazon
	p.is("board.chosen.join()", "g1")
	p.tap("d1", "d7", "d1") // back where it came from
	p.told("move d1d7/d1")

	v, err := viewAfter("amazons/10x10", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	arrows := 0
	for _, m := range v.Moves {
		if strings.HasPrefix(m, "d1d7/") {
			arrows++
		}
	}
	p.js("board.pending(null)")
	p.tap("d1", "d7")
	p.is("document.querySelectorAll('.target, .capture').length", fmt.Sprint(arrows))
}

func TestBoardPremoves(t *testing.T) {
	t.Parallel()
	p := openBoard(t, 360, 640, "")
	p.show("xiangqi/simple", "h2e2", "")
	p.js("board.may = 'premove'")
	p.tap("h9")
	p.is("board.chosen.join()", "") // Red has moved, and chooses its next move
	p.tap("h0", "g2")
	p.told("premove h0g2")
	p.is("document.querySelector('[data-point=g2]').ariaLabel", "g2, move for the next turn")
	p.tap("c5") // takes it back
	p.told("premove null")
	p.tap("h0", "g2")
	p.js("board.cancel()")
	p.told("premove h0g2", "premove null")

	p.tap("h0", "g2")
	p.show("xiangqi/simple", "h2e2 h9g7", "")
	p.told("premove h0g2")
	p.js("board.may = 'move'") // only now, when the page says so
	p.told("premove null", "move h0g2")

	// A premove that the opponent's move has made illegal is dropped.
	p.js("board.may = 'none'")
	p.show("xiangqi/simple", "h2e2 h9g7 h0g2", "")
	p.js("board.may = 'premove'")
	p.tap("e2", "e8")
	p.told("premove e2e8")
	p.js("board.may = 'move'")
	p.show("xiangqi/simple", "h2e2 h9g7 h0g2 g6g5", "")
	p.told("premove null lost")

	// Amazons and Gomoku.
	p.js("board.may = 'premove'")
	p.show("amazons/10x10", "d1d7/b7", "")
	p.tap("g1", "g3", "g4")
	p.told("premove g1g3/g4")
	p.js("board.may = 'none'") // as while another position is looked at
	p.show("amazons/10x10", "", "")
	p.is("!!document.querySelector('.premove')", "false")
	p.show("amazons/10x10", "d1d7/b7", "")
	p.js("board.may = 'premove'")
	p.is("!!document.querySelector('.premove')", "true")
	p.tap("g1", "g3", "g1") // shoots where it came from
	p.told("premove null", "premove g1g3/g1")
	p.js("board.set({input: 'tap'})")
	p.show("gomoku/freestyle-15", "h8", "") // another position, as after a takeback
	p.told("premove null lost")
	p.tap("h9")
	p.told("premove h9")
	p.js("board.may = 'move'")
	p.show("gomoku/freestyle-15", "h8 i9", "")
	p.told("premove null", "move h9")
}

// TestBoardKeys chooses moves with the keyboard alone.
func TestBoardKeys(t *testing.T) {
	t.Parallel()
	p := openBoard(t, 1280, 800, "seat=second")
	p.js("board.may = 'move'")
	p.show("xiangqi/simple", "h2e2", "")
	focused := "document.activeElement.dataset.point"
	p.is("document.querySelectorAll('[data-point][tabindex=\"0\"]').length", "1")
	p.js("document.querySelector('[data-point][tabindex=\"0\"]').focus()")
	p.is(focused, "e5") // Black's side is at the bottom
	p.do(chromedp.KeyEvent(kb.ArrowDown))
	p.is(focused, "e6")
	p.do(chromedp.KeyEvent(kb.ArrowRight))
	p.is(focused, "d6")
	p.do(chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.PageDown))
	p.is(focused, "i9")
	p.do(chromedp.KeyEvent(kb.End))
	p.is(focused, "a9")
	p.do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowRight))
	p.is(focused, "a9") // the edge
	p.do(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.Enter))
	p.is("document.activeElement.ariaLabel", "b9, black horse, chosen")
	p.is("document.activeElement.ariaSelected", "true")
	p.do(chromedp.KeyEvent(kb.Escape))
	p.is("board.chosen.join()", "")
	p.do(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowLeft))
	p.is("document.activeElement.ariaLabel", "c7, possible")
	p.told()
	p.do(chromedp.KeyEvent(" "))
	p.told("move b9c7")

	// Keys do not slip: where a finger has to confirm its aim, Enter plays.
	p.js("board.set({input: 'aim', seat: 'first'})")
	p.show("gomoku/freestyle-15", "", "")
	p.js("document.querySelector('[data-point=h8]').focus()")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.told("move h8")
	p.js("board.pending(null), board.set({input: 'confirm'})")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.told()
	p.do(chromedp.KeyEvent(kb.Enter))
	p.told("move h8")

	// A screen reader clicks without a pointer.
	p.js("board.pending(null), board.set({input: 'aim'})")
	p.js("document.querySelector('[data-point=k3]').click()")
	p.told("move k3")
}

// TestBoardForbids marks forbidden points by kind, and refuses them.
func TestBoardForbids(t *testing.T) {
	t.Parallel()
	const position = "15/15/5x2xx5/1o4o1xox4/2o2oo3xx3/5xx8/1o4o1xx5/x1ox3o1o5/1xx5xo5/2x3xox2x3/4xx1o3x3/3xx1xxo2o3/2x2xx1x6/3o1x2xx5/1xxx2oxo1x4 b"
	p := openBoard(t, 360, 640, "")
	p.js("board.may = 'move'")
	p.show("gomoku/renju-15", "", position)
	v, err := viewAfter("gomoku/renju-15", position, nil)
	if err != nil {
		t.Fatal(err)
	}
	kinds := make(map[game.ForbiddenKind]string)
	text := map[game.ForbiddenKind]string{game.DoubleThree: "33", game.DoubleFour: "44", game.Overline: "6"}
	for _, f := range v.Forbidden {
		kinds[f.Kind] = f.Point
	}
	p.is("document.querySelectorAll('.forbidden').length", fmt.Sprint(len(v.Forbidden)))
	for kind, point := range kinds {
		p.is(fmt.Sprintf("[...document.querySelectorAll('.forbidden text')].some(e => e.textContent === %q)", text[kind]), "true")
		p.tap(point)
		p.told(fmt.Sprintf("refused %s %s", point, kind))
	}
	p.js("board.may = 'none'") // as for a watcher, or the opponent
	p.is("document.querySelectorAll('.board-box > svg .forbidden').length", "0")
	p.is("document.querySelector('[data-point=\""+kinds[game.Overline]+"\"]').ariaLabel", kinds[game.Overline])
	if len(kinds) != 3 {
		t.Errorf("kinds %v, want all three", kinds)
	}
	p.is("board.aimed", "<nil>")
}
