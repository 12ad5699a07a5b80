package book_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sparring/engine/book"
	"sparring/game"
)

// sample returns a book that has every kind of entry.
func sample(t testing.TB) *book.Book {
	b, err := book.NewBuilder("xiangqi", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range five {
		if err := b.Learn(g); err != nil {
			t.Fatal(err)
		}
	}
	odd := book.Game{ID: "odd", Rules: "xiangqi/wxf", Position: "3k5/9/9/9/9/9/9/9/9/R3K4 w", Moves: []string{"a0a9"}, Result: game.FirstWins}
	if err := b.Count(odd); err != nil {
		t.Fatal(err)
	}
	rules := b.Book(0)
	return rules
}

func TestFileRoundTrip(t *testing.T) {
	b := sample(t)
	path := filepath.Join(t.TempDir(), "x.book")
	if err := b.Save(path); err != nil {
		t.Fatal(err)
	}
	again, err := book.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Bytes(), b.Bytes()) {
		t.Error("read back, the book has other bytes")
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("%v files left, %v", left, err)
	}
	if err := b.Save(filepath.Join(path, "below", "x.book")); err == nil {
		t.Error("saved below a file")
	}
}

// resum corrects the checksum, so that later checks are reached.
func resum(data []byte) []byte {
	table := crc64.MakeTable(crc64.ECMA)
	sum := crc64.Update(crc64.Checksum(data[:56], table), table, data[64:])
	binary.LittleEndian.PutUint64(data[56:], sum)
	return data
}

func TestDamagedFiles(t *testing.T) {
	sound := sample(t).Bytes()
	change := func(f func(data []byte)) []byte {
		data := slices.Clone(sound)
		f(data)
		return data
	}
	for name, tt := range map[string]struct {
		data []byte
		want error
		text string
	}{
		"empty":         {nil, book.ErrFormat, "header"},
		"text":          {[]byte(strings.Repeat("hello ", 100)), book.ErrFormat, "header"},
		"header only":   {sound[:64], book.ErrFormat, "64 bytes"},
		"half a header": {sound[:20], book.ErrFormat, "header"},
		"truncated":     {sound[:len(sound)-1], book.ErrFormat, "bytes"},
		"too long":      {append(slices.Clone(sound), 0), book.ErrFormat, "bytes"},
		"version":       {change(func(d []byte) { d[8] = 2 }), book.ErrVersion, "2"},
		"flipped bit":   {change(func(d []byte) { d[100] ^= 1 }), book.ErrFormat, "checksum"},
		"flipped name":  {change(func(d []byte) { d[20] ^= 1 }), book.ErrFormat, "checksum"},
		"many entries":  {change(func(d []byte) { d[15] = 255 }), book.ErrFormat, "bytes"},
		"other rules":   {resum(change(func(d []byte) { copy(d[20:], "chess/x") })), book.ErrFormat, "chess/x"},
		"order":         {resum(change(func(d []byte) { copy(d[64:92], sound[92:120]) })), book.ErrFormat, "order"},
		"no move":       {resum(change(func(d []byte) { clear(d[72:76]) })), book.ErrFormat, "invalid"},
		"preference":    {resum(change(func(d []byte) { d[90] = 100 })), book.ErrFormat, "invalid"},
		"game order":    {resum(change(func(d []byte) { clear(d[len(d)-8:]) })), book.ErrFormat, "order"},
	} {
		if _, err := book.Parse(tt.data); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v, want %v with %q", name, err, tt.want, tt.text)
		}
		path := filepath.Join(t.TempDir(), "bad.book")
		if err := os.WriteFile(path, tt.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := book.Load(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v does not name the file", name, err)
		}
	}
}

func TestText(t *testing.T) {
	b := sample(t)
	var text bytes.Buffer
	if err := b.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sparring book 1 xiangqi\n", "\nb2e2 = 2 1 1 learnt ", "\n@", "\ngames "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	again, err := book.ReadText(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Bytes(), b.Bytes()) {
		t.Errorf("read back from text, the book is another:\n%s", &text)
	}

	edited := "sparring book 1 xiangqi\n# a remark\n\nh2e2 = 10 0 0 prefer +2 # the best\nb2e2 h9g7 = 0 0 5 avoid\r\n"
	b, err = book.ReadText(strings.NewReader(edited))
	if err != nil {
		t.Fatal(err)
	}
	e := b.Look(setUp(t, "xiangqi/wxf", ""), book.Options{})[0]
	reply := b.Look(setUp(t, "xiangqi/wxf", "h2e2"), book.Options{})[0]
	if e.Wins != 10 || e.Preference != 2 || reply.Preference != book.Avoid || reply.Losses != 5 || reply.Share != 0 {
		t.Errorf("%+v, reply %+v", e, reply)
	}
}

func TestTextFaults(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "no first line"},
		{"h2e2 = 1 2 3\n", "line 1: "},
		{"sparring book 2 xiangqi\n", "line 1: "},
		{"sparring book 1 chess\n", "line 1: unknown rules"},
		{"sparring book 1 xiangqi\nh2e2 1 2 3\n", "line 2: "},
		{"sparring book 1 xiangqi\nh2e2 = 1 2\n", "want wins, draws and losses"},
		{"sparring book 1 xiangqi\nh2e2 = 1 2 -3\n", `"-3"`},
		{"sparring book 1 xiangqi\nh2e2 = 1 2 3 prefer\n", "prefer N"},
		{"sparring book 1 xiangqi\nh2e2 = 1 2 3 prefer 100\n", "-20 to 20"},
		{"sparring book 1 xiangqi\nh2e2 = 1 2 3 love\n", `"love"`},
		{"sparring book 1 xiangqi\nh2e2 h2e2 = 1 2 3\n", "line 2: ply 2: illegal move"},
		{"sparring book 1 xiangqi\ne2 = 1 2 3\n", "line 2: ply 1: "},
		{"sparring book 1 xiangqi\n = 1 2 3\n", "0 moves"},
		{"sparring book 1 xiangqi\n@12 0 = 1 2 3\n", "@KEY"},
		{"sparring book 1 xiangqi\ngames x\n", `"x"`},
		{"sparring book 1 xiangqi\nh2e2 = 1 2 3\n\nb2e2 = 1 2 3\n", "line 4: "},
		{"sparring book 1 xiangqi\n" + strings.Repeat("x", 1<<21), "line 2: a line of more than 1048576 bytes"},
	} {
		if _, err := book.ReadText(strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

// FuzzParse checks that any bytes give a book or an error, and that a book is
// written as it was read and can be used.
func FuzzParse(f *testing.F) {
	sound := sample(f).Bytes()
	f.Add(sound[:64], sound[64:])
	f.Add(sound[:64], sound[64:100])
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, header, body []byte) {
		data := slices.Concat(header, body)
		if len(data) >= 64 {
			resum(data)
		}
		b, err := book.Parse(data)
		if err != nil {
			if !errors.Is(err, book.ErrFormat) && !errors.Is(err, book.ErrVersion) {
				t.Errorf("error %v", err)
			}
			return
		}
		if !bytes.Equal(b.Bytes(), data) {
			t.Error("written again, the book has other bytes")
		}
		p := setUp(t, "xiangqi/wxf", "")
		if m, _, ok := b.Choose(p, book.Options{}, 1, nil); ok && p.Play(m) != nil {
			t.Errorf("illegal move %#x", uint32(m))
		}
	})
}

// FuzzText checks that any text gives a book or an error, and that a book survives
// the way through its own text.
func FuzzText(f *testing.F) {
	var text bytes.Buffer
	if err := sample(f).WriteText(&text); err != nil {
		f.Fatal(err)
	}
	f.Add(text.String())
	f.Add("sparring book 1 gomoku/renju-15\nh8 i9 = 1 2 3 learnt -20 prefer 2\n")
	f.Add("sparring book 1 amazons/10x10\nd1d7/b7 = 1 2 3 avoid\n@1 1 = 0 0 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := book.ReadText(strings.NewReader(text))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := b.WriteText(&again); err != nil {
			t.Fatal(err)
		}
		back, err := book.ReadText(&again)
		if err != nil || !bytes.Equal(back.Bytes(), b.Bytes()) {
			t.Errorf("%v: from its text\n%s the book is another", err, &again)
		}
	})
}
