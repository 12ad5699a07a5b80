package otb

import (
	"fmt"
	"time"

	"sparring/game"
	"sparring/screen/static"
)

// words are the sentences of the page: why a move is refused, what an opening
// procedure asks for, how a game ended.
var words = func() static.Words {
	w, err := static.ReadWords(static.Files, "en")
	if err != nil {
		panic(err) // the file is embedded
	}
	return w
}()

// stageText says what the step of an opening procedure asks for, "" outside of one.
func stageText(p game.Position, us game.Seat) string {
	staged, ok := p.(game.Staged)
	if !ok {
		return ""
	}
	s, ok := staged.Stage()
	if !ok {
		return ""
	}
	key := "open." + s.Procedure + "." + s.Step
	if s.Seat != us {
		key += ".wait"
	}
	return words.T(key, "left", s.Left, "stone", s.Stone, "fifths", s.Fifths)
}

// Colour names the colour of a seat: Red.
func Colour(p game.Position, seat game.Seat) string {
	if pictured, ok := p.(game.Pictured); ok {
		return words.Side(pictured.Sides()[seat])
	}
	return seat.String()
}

// sides returns the colours of the seats.
func sides(p game.Position) [2]string {
	if pictured, ok := p.(game.Pictured); ok {
		return pictured.Sides()
	}
	return [2]string{"first", "second"}
}

// ClockText writes the time on a clock, 0:00.0 at its end.
func ClockText(d time.Duration) string {
	if d < 0 {
		return "0:00"
	}
	s := int64((d + time.Second - 1) / time.Second)
	if d < 10*time.Second {
		return fmt.Sprintf("0:%04.1f", float64(d/(100*time.Millisecond))/10)
	}
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s%3600/60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
