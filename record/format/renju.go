package format

import "regexp"

// renju are the names of Renju, and of its opening rules, which are for no other game: those of
// the international federation (RIF, Yamaguchi, Soosyrv, Taraguchi, Tarannikov), of the time
// before (Sakata), and what the Chinese rules say (五手两打, 三手交换, 禁手).
var renju = regexp.MustCompile(`(?i)renju|rendzu|рэндзю|рендзю|連珠|连珠|聯珠|联珠|렌주` +
	`|(^|[^a-z])rif([^a-z]|$)` +
	`|yamaguchi|ямагу[тч]и|山口` +
	`|soo?s[oõöóy]{1,2}r[ovy]|соос[ыо]рв|索索夫|索索尔夫|索索爾夫|ソーソロフ|ソーソルブ` +
	`|tarag[uü]chi|тарагу[тч]и|塔拉口|塔拉山口|タラグチ` +
	`|tarann?iko[vfw]|таранников|塔兰尼科夫|塔蘭尼科夫|タラニコフ` +
	`|sakata|坂田|五手.{0,2}打|三手[交换換]|有禁|禁手`)

// free are the words by which a text says that nothing is forbidden, although it has one of Renju.
var free = regexp.MustCompile(`[无無]禁手?|禁手[なナ無无]|不禁`)

// SaysRenju reports whether a text has the name of Renju or of one of its opening rules.
func SaysRenju(text string) bool { return renju.MatchString(text) && !free.MatchString(text) }
