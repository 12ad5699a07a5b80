package external

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sparring/pipe/uci"
)

// Announced starts a program and returns the options that it says it has. Known is
// false if its protocol has no such list: any name may then be one. The error is that
// of Open, or the fault of a program that does not become ready.
func Announced(ctx context.Context, s Spec, gameName string) (all []uci.Option, known bool, err error) {
	e, err := Open(s, gameName)
	if err != nil {
		return nil, false, err
	}
	defer e.Close()
	p, err := e.launch(ctx, nil)
	if err != nil {
		return nil, false, err
	}
	if a, ok := p.dialect.(interface{ announced() options }); ok {
		all, known = a.announced(), true
	}
	p.quit(p.quitCommand(), e.times.quit)
	return all, known, nil
}

// options are the options that a program has announced.
type options []uci.Option

// find finds an option by name, ignoring case, spaces and underscores.
func (o options) find(name string) (uci.Option, bool) {
	same := strings.NewReplacer(" ", "", "_", "")
	for _, have := range o {
		if strings.EqualFold(same.Replace(have.Name), same.Replace(name)) {
			return have, true
		}
	}
	return uci.Option{}, false
}

// check finds the option that a user wants to set, and checks the value.
func (o options) check(want Option) (uci.Option, error) {
	have, ok := o.find(want.Name)
	if !ok {
		var names []string
		for _, h := range o {
			names = append(names, h.Name)
		}
		return have, fmt.Errorf("it has no option %.60q (it has %s)", want.Name, strings.Join(names, ", "))
	}
	switch have.Kind {
	case uci.Spin:
		if n, err := strconv.Atoi(want.Value); err != nil || n < have.Min || n > have.Max {
			return have, fmt.Errorf("option %s: %.60q, want a number from %d to %d", have.Name, want.Value, have.Min, have.Max)
		}
	case uci.Check:
		if want.Value != "true" && want.Value != "false" {
			return have, fmt.Errorf("option %s: %.60q, want true or false", have.Name, want.Value)
		}
	case uci.Combo:
		if !slices.ContainsFunc(have.Vars, func(v string) bool { return strings.EqualFold(v, want.Value) }) {
			return have, fmt.Errorf("option %s: %.60q, want one of %s", have.Name, want.Value, strings.Join(have.Vars, ", "))
		}
	}
	return have, nil
}

// sizes returns the sizes that options to set tell a program.
func (o options) sizes(set []Option, hash, threads string) (z sizes) {
	h, _ := o.find(hash)
	t, _ := o.find(threads)
	for _, s := range set {
		switch n, _ := strconv.Atoi(s.Value); s.Name {
		case h.Name:
			z.hashMB = n
		case t.Name:
			z.threads = n
		}
	}
	return z
}

// wanted returns the options to set at the start: hash and threads, if there are such
// options, then those that the spec lists. The error reports all invalid ones.
func (o options) wanted(s Spec, hash, threads string) (set []Option, err error) {
	for _, w := range []struct {
		name string
		n    int
	}{{hash, s.Hash}, {threads, s.Threads}} {
		if have, ok := o.find(w.name); ok && w.n > 0 {
			set = append(set, Option{have.Name, strconv.Itoa(min(max(w.n, have.Min), max(have.Max, have.Min, 1)))})
		}
	}
	var wrong []string
	for _, w := range s.Options {
		have, err := o.check(w)
		if err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		set = append(set, Option{have.Name, w.Value})
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return set, nil
}
