package format

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/htmlindex"

	"sparring/game"
	"sparring/record"
)

func TestParseDate(t *testing.T) {
	for text, want := range map[string]string{
		"2024.07.11 10:00 place":   "2024-07-11 10:00:00|place",
		"2021-04-16 00:00 Love":    "2021-04-16 00:00:00|Love",
		"2050/12/31 23:59:59 河北":   "2050-12-31 23:59:59|河北",
		"2023 / 4 / 5 12:3:4 四川":   "2023-04-05 12:03:04|四川",
		"2024年7月11日 10时30分 北京":     "2024-07-11 10:30:00|北京",
		"２０２４．０７．１１　１０：００　沈阳":      "2024-07-11 10:00:00|沈阳",
		"2024.07.11 Tokyo":         "2024-07-11 00:00:00|Tokyo",
		"2024-07-11T10:00:00Z":     "2024-07-11 10:00:00|Z",
		"2024.07.11 24:00 x":       "2024-07-11 00:00:00|24:00 x",
		"2024.07.11 3 tables":      "2024-07-11 00:00:00|3 tables",
		"2024.07.11":               "2024-07-11 00:00:00|",
		"2023.02.29 x":             "|2023.02.29 x",
		"2018.8.x 14:00 合肥":        "|2018.8.x 14:00 合肥",
		"2000.11.??":               "|2000.11.??",
		"2026 辽宁":                  "|2026 辽宁",
		"20240711":                 "2024-07-11 00:00:00|",
		"202407112":                "|202407112",
		"2022-05-01 09_30_15":      "2022-05-01 09:30:15|",
		"24.07.11":                 "|24.07.11",
		"":                         "|",
		"99999999999999999999.1.1": "|99999999999999999999.1.1",
	} {
		got, rest, ok := ParseDate(text, time.UTC)
		s := "|" + rest
		if ok {
			s = got.Format(time.DateTime) + s
		}
		if s != want {
			t.Errorf("%q: %s, want %s", text, s, want)
		}
	}
}

func TestFormatDate(t *testing.T) {
	east := time.FixedZone("", 8*3600)
	for _, text := range []string{"2024.07.11", "2024.07.11 00:00", "2024.07.11 23:59"} {
		at, _, _ := ParseDate(text, east)
		if got := FormatDate(at, "2006.01.02 15:04", east); got != text {
			t.Errorf("%s is read back as %s", text, got)
		}
	}
}

func TestDecode(t *testing.T) {
	for data, want := range map[string]string{
		"abc":                      "abc",
		"\xef\xbb\xbf先手":           "先手",
		"先手":                       "先手",
		"\xcf\xc8\xca\xd6":         "先手",
		"\xff\xfe\x48\x51\x4b\x62": "先手",
		"\xfe\xff\x51\x48\x62\x4b": "先手",
	} {
		if got, err := Decode([]byte(data)); got != want || err != nil {
			t.Errorf("%x: %q, %v, want %q", data, got, err, want)
		}
	}
	for data, want := range map[string]string{
		"ab\ncd\xff\xff\n":               "neither UTF-8 (line 2) nor GBK (line 2)",
		"\xcf\xc8\ncd\xff\xff\n":         "neither UTF-8 (line 1) nor GBK (line 2)",
		"\xef\xbb\xbfab\r\n\r\n\xcf\xc8": "line 3: not in UTF-8, which the byte-order mark promises",
	} {
		if got, err := Decode([]byte(data)); !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), want) {
			t.Errorf("%x: %q, %v, want %q", data, got, err, want)
		}
	}
}

// TestDecodeAs: a text comes back from every charset that a file names, by any of its names, and a
// name that is wrong or unknown spoils nothing.
func TestDecodeAs(t *testing.T) {
	const chinese, japanese, korean, western, russian = "(;PB[甲乙丙丁]PW[\u7e41\u9ad4])", "(;PB[ソ表十噂]PW[中村])", "(;PB[김수찬])", "(;PB[Jürgen Müller]PW[Ándré])", "(;PB[Иван Петров])"
	for _, x := range []struct {
		text, in string
		names    []string
	}{
		{chinese, "gb18030", []string{"GB18030", "gbk", "GB2312", "cp936", "CP-936"}},
		{chinese, "big5", []string{"Big5", "big5-hkscs", "CP950"}},
		{japanese, "shift_jis", []string{"Shift_JIS", "sjis", "cp932", "Windows-31J", "MS932"}},
		{japanese, "euc-jp", []string{"EUC-JP", "x-euc-jp"}},
		{korean, "euc-kr", []string{"EUC-KR", "cp949", "ks_c_5601-1987"}},
		{western, "windows-1252", []string{"ISO-8859-1", "latin1", "windows-1252", "", "UTF-8", "ebcdic"}},
		{russian, "windows-1251", []string{"windows-1251", "cp1251"}},
		{russian, "koi8-r", []string{"KOI8-R"}},
		{chinese, "utf-16le", []string{"UTF-16", "UTF-16LE", "UTF-8", ""}},
		{chinese, "utf-16be", []string{"UTF-16BE", "UTF-16", ""}},
		{chinese, "gb18030", []string{"", "UTF-8", "nonesuch"}},
		{chinese, "utf-8", []string{"", "UTF-8", "utf8", "GBK", "Big5", "ISO-8859-1", "Shift_JIS"}},
		{western, "utf-8", []string{"", "UTF-8", "ISO-8859-1"}},
	} {
		e, err := htmlindex.Get(x.in)
		if err != nil {
			t.Fatal(err)
		}
		data, err := e.NewEncoder().Bytes([]byte(x.text))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range x.names {
			if got, err := DecodeAs(data, name); err != nil || got != x.text {
				t.Errorf("%s called %q: %q, %v", x.in, name, got, err)
			}
		}
	}
}

// TestSaysRenju: the names of Renju's opening rules, and what only looks like them.
func TestSaysRenju(t *testing.T) {
	for _, text := range []string{"Renju", "a renju game", "RIF", "RIF rule", "rif-rule", "RIF_2", "rif规则", "Yamaguchi", "yamaguchi-12", "山口规则", "山口ルール",
		"Soosyrv", "Soosyrv-8", "Soosõrv-7", "SOOSÕRV", "Soosorv", "索索夫-8", "Taraguchi", "Taraguchi-10", "塔拉山口", "Tarannikov", "Tarannikow", "Taranikov", "Таранников",
		"Sakata", "連珠", "连珠", "五手两打", "五手2打", "三手交换", "有禁手", "Рэндзю", "Соосырв"} {
		if !SaysRenju(text) {
			t.Errorf("%s is not Renju", text)
		}
	}
	for _, text := range []string{"", "Freestyle", "terrific", "Griffin", "Japanese", "无禁手", "無禁", "禁手なし", "Gomoku Swap2", "standard", "Caro"} {
		if SaysRenju(text) {
			t.Errorf("%s is Renju", text)
		}
	}
}

func TestComment(t *testing.T) {
	for _, p := range []record.Ply{
		{},
		{Comment: "x"},
		{UsedMS: 1234, LeftMS: 3_723_050, Comment: "a b"},
		{Think: &record.Think{Depth: 3, Score: -5}},
		{Think: &record.Think{Score: 35}}, // as most programs write it
		{Seat: game.Second, Think: &record.Think{Depth: 3, Score: -12345}, LeftMS: 7},
	} {
		var got record.Ply
		got.Seat = p.Seat
		AddComment(&got, Comment(&p))
		if p.Seat == game.Second {
			got.Think.Score = -got.Think.Score
		}
		if got.Comment != p.Comment || got.UsedMS != p.UsedMS || got.LeftMS != p.LeftMS || (got.Think == nil) != (p.Think == nil) ||
			p.Think != nil && !reflect.DeepEqual(got.Think, p.Think) {
			t.Errorf("%q: %+v, want %+v", Comment(&p), got, p)
		}
	}
	// Everything that is not a valid command stays as text.
	for _, text := range []string{"[%foo 1]", "[%clk x]", "[%eval 1e99]", "[%emt -1]", "[%clk NaN]"} {
		var p record.Ply
		if AddComment(&p, text); p.Comment != text {
			t.Errorf("%s becomes %+v", text, p)
		}
	}
}

func TestGrid(t *testing.T) {
	for _, text := range []string{"15/15 b", "2x12/15 w", "3q2q3/10/*9/q8q w"} {
		if g, ok := ParseGrid(text); !ok || g.String() != text {
			t.Errorf("%s becomes %s", text, g)
		}
	}
	for _, text := range []string{"15/15 b swap", "15/15", "7/015 b", ""} {
		if g, ok := ParseGrid(text); ok {
			t.Errorf("%q is read as %s", text, g)
		}
	}
}
