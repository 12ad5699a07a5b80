package catalog

import (
	"fmt"
	"regexp"
	"strings"

	"sparring/game"
)

// Line is a position as people and programs write it on one line. Files of openings, files of
// positions and flags that take a position all read it by ParseLine, so that one text means one
// position everywhere.
type Line struct {
	Start string   // the start position, "" for the usual one
	Moves []string // played from there
	ID    string   // of EPD's operation id, "" without
}

// ParseLine reads a start position, moves, or both:
//
//	moves h2e2 h9g7
//	rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1
//	3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w moves d1d7/b7
//	position startpos moves h2e2                              as UCI has it
//	3k5/4R4/9/9/9/9/9/9/9/4K4 w - - bm e0d0; id "mate in one";  EPD
//
// Operations of EPD other than id are skipped. The error wraps game.ErrSyntax. Whether the rules
// know the position and the moves, [Line.Position] finds out; it leaves nothing of the text out.
func ParseLine(text string) (Line, error) {
	text, id, err := cutOperations(strings.TrimSpace(text))
	if err != nil {
		return Line{}, err
	}
	start, moves, _ := strings.Cut(" "+text+" ", " moves ")
	start = strings.TrimSpace(start)
	if words := strings.Fields(start); len(words) > 0 && words[0] == "position" {
		start = strings.TrimSpace(start[len("position"):])
	}
	if words := strings.Fields(start); len(words) > 0 {
		switch words[0] {
		case "fen":
			start = strings.TrimSpace(start[len("fen"):])
		case "startpos":
			if len(words) > 1 {
				return Line{}, fmt.Errorf("%w: %.60q after startpos: must be moves and what was played", game.ErrSyntax, words[1])
			}
			start = ""
		}
	}
	if m := unused.FindStringSubmatch(start); m != nil {
		start = m[1]
	}
	return Line{Start: start, Moves: strings.Fields(moves), ID: id}, nil
}

// unused is a position with the two fields of EPD that only chess has a use for.
var unused = regexp.MustCompile(`^(\S+/\S+\s+[a-z])\s+-\s+-$`)

// firstOperation finds where the operations of EPD begin: an opcode, operands and a semicolon. A
// text in quotes may have semicolons. Only known opcodes begin them, since moves are words, too.
var (
	operands       = `(?:\s+((?:"[^"]*"|[^;"])*))?;`
	firstOperation = regexp.MustCompile(`(?:^|\s)(?:id|bm|am|ac[dns]|c\d|ce|dm|eco|fmvn|hmvc|noop|pm|pv|rc|sm|v\d)` + operands)
	operation      = regexp.MustCompile(`^\s*([A-Za-z]\w*)` + operands)
)

// cutOperations returns the text before EPD's operations, and the operand of id.
func cutOperations(text string) (before, id string, err error) {
	at := firstOperation.FindStringIndex(text)
	if at == nil {
		return text, "", nil
	}
	before, rest := text[:at[0]], text[at[0]:]
	for strings.TrimSpace(rest) != "" {
		m := operation.FindStringSubmatch(rest)
		if m == nil {
			return "", "", fmt.Errorf("%w: %.60q: must be an operation of EPD that ends with a semicolon, such as id \"1\";", game.ErrSyntax, strings.TrimSpace(rest))
		}
		if m[1] == "id" {
			id = strings.Trim(strings.TrimSpace(m[2]), `"`)
		}
		rest = rest[len(m[0]):]
	}
	return before, id, nil
}

// Position sets up the position that the line describes. Rules and errors are those of Setup and,
// for the moves, of PlayMoves.
func (l Line) Position(gameName, rules string, read MoveReader) (game.Position, error) {
	p, err := Setup(gameName, rules, l.Start)
	if err != nil {
		return nil, err
	}
	return p, PlayMoves(p, l.Moves, read)
}

// MoveReader reads a move in a notation; nil is the game's usual one, game.Position.Parse.
type MoveReader func(p game.Position, text string) (game.Move, error)

// PlayMoves plays moves given as text. The error names the ply, from 1.
func PlayMoves(p game.Position, moves []string, read MoveReader) error {
	if read == nil {
		read = game.Position.Parse
	}
	for i, text := range moves {
		m, err := read(p, text)
		if err == nil {
			err = p.Play(m)
		}
		if err != nil {
			return fmt.Errorf("ply %d: %w", i+1, err)
		}
	}
	return nil
}
