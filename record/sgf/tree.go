package sgf

import (
	"strings"
	"unicode"

	"sparring/record/format"
)

// value is a property's value; at is where it begins in the text.
type value struct {
	at   int
	text string
}

// node is the properties of a node, by identifier.
type node struct {
	at    int
	props map[string][]value
}

// get returns the first value of a property; ok is false if the node does not have
// it.
func (n *node) get(id string) (value, bool) {
	v := n.props[id]
	if len(v) == 0 {
		return value{}, false
	}
	return v[0], true
}

// line is the main line of a game tree: the first variation at every branch.
type line []node

// parser reads a collection without recursion, so that deeply nested files cannot
// exhaust the stack.
type parser struct {
	src *format.Source
	pos int
}

// next reads the next game tree of the collection; nil is the end. Text before
// "(;" is skipped, as the specification demands.
func (p *parser) next() (line, error) {
	text := p.src.Text
	for {
		i := strings.IndexByte(text[p.pos:], '(')
		if i < 0 {
			return nil, nil
		}
		p.pos += i
		if rest := strings.TrimLeftFunc(text[p.pos+1:], unicode.IsSpace); strings.HasPrefix(rest, ";") {
			break
		}
		p.pos++
	}
	type tree struct {
		main     bool
		children int
	}
	var (
		open  []tree
		nodes line
		spare = node{} // takes the properties of variations
		into  *node    // the node that properties go to
		start = p.pos  // of the game
	)
	for {
		p.blanks()
		if p.pos == len(text) {
			return nil, p.src.Syntax(start, "the game has no end: %d ) missing", len(open))
		}
		at := p.pos
		switch c := text[at]; {
		case c == '(':
			p.pos++
			main := true
			if len(open) > 0 {
				parent := &open[len(open)-1]
				parent.children++
				main = parent.main && parent.children == 1
			}
			open, into = append(open, tree{main: main}), nil
		case c == ')':
			p.pos++
			open, into = open[:len(open)-1], nil
			if len(open) == 0 {
				return nodes, nil
			}
		case c == ';':
			p.pos++
			if top := open[len(open)-1]; top.main && top.children == 0 {
				nodes = append(nodes, node{at: at, props: map[string][]value{}})
				into = &nodes[len(nodes)-1]
			} else {
				spare = node{at: at, props: map[string][]value{}}
				into = &spare
			}
		case isNameChar(c):
			if into == nil {
				return nil, p.src.Syntax(at, "a property outside of a node")
			}
			if err := p.property(into); err != nil {
				return nil, err
			}
		default:
			r := []rune(text[at : at+min(4, len(text)-at)])[0]
			return nil, p.src.Syntax(at, "%q: want a node or a property", r)
		}
	}
}

func (p *parser) blanks() {
	rest := strings.TrimLeftFunc(p.src.Text[p.pos:], unicode.IsSpace)
	p.pos = len(p.src.Text) - len(rest)
}

// isNameChar reports whether a character may be in the name of a property. The specification has
// capitals only; programs also have names such as 5A.
func isNameChar(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
}

// property reads an identifier and its values. Lower-case letters in identifiers,
// as in older files, are ignored.
func (p *parser) property(n *node) error {
	at := p.pos
	id := ""
	for p.pos < len(p.src.Text) {
		c := p.src.Text[p.pos]
		if !isNameChar(c) {
			break
		}
		if c < 'a' || c > 'z' {
			id += string(c)
		}
		p.pos++
	}
	if len(id) > 32 {
		return p.src.Syntax(at, "a property name of %d letters", len(id))
	}
	p.blanks()
	if p.pos == len(p.src.Text) || p.src.Text[p.pos] != '[' {
		return p.src.Syntax(at, "property %s has no value", id)
	}
	for p.pos < len(p.src.Text) && p.src.Text[p.pos] == '[' {
		v, err := p.value()
		if err != nil {
			return err
		}
		n.props[id] = append(n.props[id], v)
		p.blanks()
	}
	return nil
}

// value reads a value in brackets and removes its escapes: a backslash stands
// before a literal character, or before a line end that does not count.
func (p *parser) value() (value, error) {
	start := p.pos
	text := p.src.Text
	var s strings.Builder
	for i := start + 1; i < len(text); i++ {
		switch c := text[i]; c {
		case ']':
			p.pos = i + 1
			return value{at: start + 1, text: s.String()}, nil
		case '\\':
			i++
			switch {
			case i == len(text):
			case text[i] == '\n' || text[i] == '\r':
				if i+1 < len(text) && text[i+1] != text[i] && (text[i+1] == '\n' || text[i+1] == '\r') {
					i++
				}
			default:
				s.WriteByte(text[i])
			}
		default:
			s.WriteByte(c)
		}
	}
	return value{}, p.src.Syntax(start, "a value without its ]")
}

// simple is SGF's SimpleText: every white space becomes a blank.
func simple(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, text))
}

var escapes = strings.NewReplacer(`\`, `\\`, `]`, `\]`)

// escape writes a text as a value.
func escape(text string) string { return escapes.Replace(text) }
