package convert

import "strings"

// sgfNode is a node's properties, by name.
type sgfNode map[string][]string

// sgfParser reads main lines.
type sgfParser struct {
	text string
	at   int
}

// sgfNesting bounds how deep variations may stand within each other.
const sgfNesting = 200

func (p *sgfParser) skip() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n\v\f", p.text[p.at]) >= 0 {
		p.at++
	}
}

// peek is the next byte after blanks, 0 at the end.
func (p *sgfParser) peek() byte {
	p.skip()
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// tree reads "(" nodes, trees ")". The nodes returned are those of the tree
// and of its first subtree, and so on.
func (p *sgfParser) tree(depth int, main bool) ([]sgfNode, error) {
	if p.peek() != '(' {
		return nil, syntax(p.text, p.at, "want ( and a game")
	}
	if depth > sgfNesting {
		return nil, syntax(p.text, p.at, "variations nested deeper than %d", sgfNesting)
	}
	opened := p.at
	p.at++
	var nodes []sgfNode
	children := 0
	for {
		switch p.peek() {
		case ';':
			p.at++
			n, err := p.node()
			if err != nil {
				return nil, err
			}
			if main && children == 0 {
				nodes = append(nodes, n)
			}
		case '(':
			sub, err := p.tree(depth+1, main && children == 0)
			if err != nil {
				return nil, err
			}
			nodes = append(nodes, sub...)
			children++
		case ')':
			p.at++
			return nodes, nil
		case 0:
			return nil, syntax(p.text, opened, "a bracket that is never closed")
		default:
			return nil, syntax(p.text, p.at, "%q, want a node, a variation or the end of the game", p.text[p.at])
		}
	}
}

// node reads properties. Lower-case letters in names are decoration of older
// versions of the format.
func (p *sgfParser) node() (sgfNode, error) {
	n := sgfNode{}
	for {
		c := p.peek()
		if !(c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z') {
			return n, nil
		}
		start := p.at
		var name strings.Builder
		for ; p.at < len(p.text); p.at++ {
			c := p.text[p.at]
			if c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
				name.WriteByte(c)
			} else if c < 'a' || c > 'z' {
				break
			}
		}
		if p.peek() != '[' {
			return nil, syntax(p.text, start, "property %.20q without a value", p.text[start:p.at])
		}
		for p.peek() == '[' {
			value, err := p.value()
			if err != nil {
				return nil, err
			}
			n[name.String()] = append(n[name.String()], value)
		}
	}
}

func (p *sgfParser) value() (string, error) {
	opened := p.at
	var out strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; c {
		case ']':
			p.at++
			return out.String(), nil
		case '\\':
			p.at++
			if p.at < len(p.text) && p.text[p.at] != '\n' && p.text[p.at] != '\r' {
				out.WriteByte(p.text[p.at])
			}
		default:
			out.WriteByte(c)
		}
	}
	return "", syntax(p.text, opened, "a value that is never closed")
}

// first is the property's first value, "" when the node has none.
func (n sgfNode) first(name string) string {
	if len(n[name]) == 0 {
		return ""
	}
	return strings.TrimSpace(n[name][0])
}
