package lookups

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"sparring/engine/gomoku"
	"sparring/lab/train/trees"
)

// Plan configures a fit.
type Plan struct {
	Game  string `json:"game"`
	Rules string `json:"rules"` // the class of rules that the network is for
	// HoldOut leaves one of every HoldOut trees out of the fit; 0: none.
	HoldOut int     `json:"hold_out"`
	Passes  int     `json:"passes"`
	Rate    float64 `json:"rate"` // of Adagrad, at the start; it falls linearly to lastRate of this
	Seed    uint64  `json:"seed,string"`
	// From is the digest of the network file that the fit starts from, "" if it starts
	// from random numbers.
	From string `json:"from,omitempty"`
	// Games is for positions of games besides those of trees.
	Games GamesPlan `json:"games,omitzero"`
}

// lastRate is the share of the rate that is left at the end.
const lastRate = 0.05

// Validate reports everything that is out of range.
func (p Plan) Validate() error {
	var errs []error
	if p.HoldOut < 0 || p.HoldOut == 1 {
		errs = append(errs, fmt.Errorf("one of %d trees held out: want 0 (none) or 2 and more", p.HoldOut))
	}
	if p.Passes < 1 {
		errs = append(errs, fmt.Errorf("%d passes: want 1 or more", p.Passes))
	}
	if !(p.Rate > 0 && p.Rate <= 10) {
		errs = append(errs, fmt.Errorf("rate %g: want above 0, up to 10", p.Rate))
	}
	if p.Games != (GamesPlan{}) {
		errs = append(errs, p.Games.Validate())
	}
	return errors.Join(errs...)
}

// Manifest says how a network was made. It is the first line of the network's file.
type Manifest struct {
	Plan      Plan          `json:"plan"`
	Inputs    []trees.Terms `json:"inputs"`
	Trees     int           `json:"trees"`
	Games     int           `json:"games,omitempty"`
	Positions int           `json:"positions"` // including those held out
	Digest    string        `json:"positions_digest"`
	Build     string        `json:"build"`
	Linear    Loss          `json:"linear"` // the evaluation without the network
	Passes    []Loss        `json:"passes"` // with it, after each pass
	// Network is the digest of the numbers, which gomoku.NetworkWeights.Encode adds.
	Network string `json:"digest,omitempty"`
}

// Progress tells how far a fit has come.
type Progress struct {
	Pass, Done, Of int  // pass, from 1, and positions in it
	Linear         Loss // of the evaluation without the network
	// Loss is set when the pass is done.
	Loss *Loss
}

// Run fits a network to positions that were loaded with the plan's class, HoldOut and
// Seed, and returns its file. Start has the numbers that it starts from, those of
// Plan.From; nil are random ones. Watch is called now and then. The error is that of
// ctx, or says that the fit diverged.
func (p Plan) Run(ctx context.Context, positions *Positions, start *gomoku.NetworkWeights, build string, watch func(Progress)) (*Manifest, []byte, error) {
	if err := p.Validate(); err != nil {
		return nil, nil, err
	}
	linear, err := gomoku.NewLinear(p.Rules, nil)
	if err != nil {
		return nil, nil, err
	}
	learnt := positions.learnt()
	if len(learnt) == 0 {
		return nil, nil, errors.New("no positions to learn from: all trees are held out")
	}
	m := &Manifest{Plan: p, Inputs: positions.Inputs, Trees: positions.Trees, Games: positions.Games, Positions: positions.Len(), Digest: positions.Digest,
		Build: build, Linear: positions.linearLoss()}
	rng := rand.New(rand.NewPCG(p.Seed, 1))
	n, v := newNet(linear.Sides(), rng), &pass{}
	if start != nil {
		if n, err = from(start, linear.Sides()); err != nil {
			return nil, nil, err
		}
	}
	now := Progress{Of: len(learnt), Linear: m.Linear}
	for now.Pass = 1; now.Pass <= p.Passes; now.Pass++ {
		now.Loss = nil
		rng.Shuffle(len(learnt), func(i, j int) { learnt[i], learnt[j] = learnt[j], learnt[i] })
		for i, at := range learnt {
			if i%1024 == 0 {
				if err := ctx.Err(); err != nil {
					return nil, nil, err
				}
				now.Done = i
				watch(now)
			}
			share := (float64(now.Pass-1) + float64(i)/float64(len(learnt))) / float64(p.Passes)
			n.see(v, positions, &positions.all[at], float32(p.Rate*(1-(1-lastRate)*share)))
		}
		if start == nil {
			n.forget()
		}
		l, err := n.loss(ctx, v, positions)
		if err != nil {
			return nil, nil, err
		}
		m.Passes = append(m.Passes, l)
		now.Done, now.Loss = len(learnt), &l
		watch(now)
	}
	data, err := n.weights().Encode(p.Rules, m.head())
	return m, data, err
}

// see learns from a position.
func (n *net) see(v *pass, all *Positions, q *position, rate float32) {
	b := all.board(q)
	c := chance(q.linear + n.value(v, &b, q.toMove))
	n.learn(v, q.toMove, c-q.target, c, rate)
}

// loss returns the error of the network. Of the positions that were learnt it looks at
// as many as are held out, evenly spread, or at all if none are.
func (n *net) loss(ctx context.Context, v *pass, all *Positions) (Loss, error) {
	held := 0
	for i := range all.all {
		if all.all[i].held {
			held++
		}
	}
	learnt := all.Len() - held
	every := 1
	if held > 0 {
		every = max(learnt/held, 1)
	}
	var l loss
	seen := 0
	for i := range all.all {
		q := &all.all[i]
		if !q.held {
			if seen++; seen%every != 0 {
				continue
			}
		}
		if i%1024 == 0 && ctx.Err() != nil {
			return Loss{}, ctx.Err()
		}
		b := all.board(q)
		l.add(q, chance(q.linear+n.value(v, &b, q.toMove)))
	}
	return l.mean(), nil
}

// head returns the manifest for gomoku.NetworkWeights.Encode.
func (m *Manifest) head() map[string]any {
	head := map[string]any{}
	data, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(data, &head)
	}
	if err != nil {
		panic(err) // plain data
	}
	return head
}

// ReadManifest reads the manifest of a network file.
func ReadManifest(path string) (*Manifest, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, err := manifestOf(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func manifestOf(data []byte) (*Manifest, error) {
	line, err := bufio.NewReader(bytes.NewReader(data)).ReadBytes('\n')
	if err != nil && err != io.EOF {
		return nil, err
	}
	m := &Manifest{}
	if err := json.Unmarshal(line, m); err != nil || m.Digest == "" || m.Network == "" {
		return nil, errors.New("not a network file: want a line of JSON with positions_digest and digest")
	}
	return m, m.Plan.Validate()
}

// Same compares a manifest that was read with the outcome of another run, as Run
// returned it. The error names the first difference.
func (m *Manifest) Same(o *Manifest, data []byte) error {
	again, err := manifestOf(data)
	switch {
	case err != nil:
		return err
	case m.Digest != o.Digest:
		return fmt.Errorf("other positions: %d with digest %s, now %d with digest %s", m.Positions, m.Digest, o.Positions, o.Digest)
	case m.Linear != o.Linear:
		return fmt.Errorf("another evaluation without the network: error %.6f, now %.6f", m.Linear.Learnt, o.Linear.Learnt)
	case m.Network != again.Network:
		return fmt.Errorf("other numbers: digest %s, now %s", m.Network, again.Network)
	}
	return nil
}
