package engine

import (
	"sparring/engine/search"
	"sparring/game/catalog"
	"testing"
	"time"
)

func TestSmoke(t *testing.T) {
	p, err := catalog.Setup("amazons", "", "")
	if err != nil {
		t.Fatal(err)
	}
	e, err := New("amazons", Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Search(p, search.Limits{Hard: 2 * time.Second}, func(i search.Info) {
		var pv []string
		q := p.Clone()
		for _, m := range i.PV {
			pv = append(pv, q.Format(m))
			if err := q.Play(m); err != nil {
				t.Fatal(err)
			}
		}
		t.Log(i.Depth, i.Score, i.Nodes, i.NPS, i.Time, pv)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", r.Wait())
}
