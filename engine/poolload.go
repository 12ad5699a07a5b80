package engine

import "time"

// Load is how busy a pool is.
type Load struct {
	Cores     int
	Thinking  int           // threads that search for moves
	Waiting   int           // searches for moves that wait for a core
	Pondering int           // searches on an opponent's time that run
	Busy      time.Duration // of the cores, with searches for moves, since the pool was made
	// Started counts the searches for moves that have begun since the pool was made, and
	// Late those of them that had to wait for a quarter of the time planned for the
	// move: for a core, or for the engine to begin.
	Started, Late int64
}

// latePart is the part of the planned time after which a search begins late.
const latePart = 4

// Load returns how busy the pool is.
func (p *Pool) Load() Load {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.countLoad(time.Now())
	return p.load
}

// countLoad counts the time that the cores were busy, and the searches now. The
// caller holds mu.
func (p *Pool) countLoad(now time.Time) {
	l := &p.load
	l.Cores = p.cores
	l.Busy += now.Sub(p.loadAt) * time.Duration(min(l.Thinking, p.cores))
	p.loadAt = now
	l.Thinking, l.Waiting, l.Pondering = 0, len(p.early.list)+len(p.urgent.list), 0
	for _, s := range p.awake {
		switch s.rank {
		case rankMove:
			l.Thinking += s.threads()
		case rankPonder:
			l.Pondering++
		}
	}
}
