package gomocup

import (
	"fmt"
	"strconv"
	"strings"
)

// Rule is the value of INFO rule: a bit set.
type Rule int

// The bits of a Rule. Zero is freestyle, where five or more in a row win.
const (
	ExactFive  Rule = 1 // exactly five in a row win
	Continuous Rule = 2 // play continues after a row
	Renju      Rule = 4
	Caro       Rule = 8 // five between two stones of the opponent do not win
)

// variants are the beginnings of our names of rule sets.
var variants = []struct {
	rule Rule
	name string
}{
	{0, "freestyle"},
	{ExactFive, "standard"},
	{Continuous, "continuous"},
	{Renju, "renju"},
	{Renju | ExactFive, "renju"}, // Renju is exact for Black by itself
	{Caro, "caro"},
	{Caro | ExactFive, "standardcaro"},
}

// RuleSet returns our name of the rules on a square board: gomoku/renju-15. For other
// combinations of bits the error wraps ErrSyntax.
func (r Rule) RuleSet(size int) (string, error) {
	for _, v := range variants {
		if v.rule == r {
			return "gomoku/" + v.name + "-" + strconv.Itoa(size), nil
		}
	}
	return "", fmt.Errorf("%w: rule %d, have 0 freestyle, 1 exactly five, 2 continuous, 4 renju, 8 caro, 9 caro with exactly five",
		ErrSyntax, int(r))
}

// RuleOf splits the name of one of our rule sets. The opening procedure ("swap2",
// "" for none) is not part of a Rule: managers handle it by SWAP2BOARD or on the
// board. The error wraps ErrSyntax if the protocol has no such rules.
func RuleOf(ruleSet string) (rule Rule, size int, opening string, err error) {
	rest, ours := strings.CutPrefix(ruleSet, "gomoku/")
	rest, opening, _ = strings.Cut(rest, "+")
	name, tail, _ := strings.Cut(rest, "-")
	size, ok := number(tail)
	for _, v := range variants {
		if ours && ok && size > 0 && v.name == name {
			return v.rule, size, opening, nil
		}
	}
	return 0, 0, "", fmt.Errorf("%w: the protocol has no rules %.60q", ErrSyntax, ruleSet)
}

// YixinRule returns the meaning of a number of Yixin-Board: a Rule, and for 5 and 6
// an opening procedure. The error wraps ErrSyntax.
func YixinRule(n int) (rule Rule, opening string, err error) {
	switch n {
	case 0:
		return 0, "", nil
	case 1:
		return ExactFive, "", nil
	case 2, 4:
		return Renju, "", nil
	case 5:
		return 0, "swap", nil
	case 6:
		return 0, "swap2", nil
	}
	return 0, "", fmt.Errorf("%w: Yixin-Board's rule %d, have 0 freestyle, 1 standard, 2 and 4 renju, 5 swap, 6 swap2", ErrSyntax, n)
}
