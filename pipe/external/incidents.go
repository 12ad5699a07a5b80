package external

import (
	"fmt"
	"sync"
)

// incidents collects what goes wrong with an engine without costing it the game,
// until the next result.
type incidents struct {
	mu   sync.Mutex
	list []string
}

// maxIncidents is the largest number kept between two results.
const maxIncidents = 16

func (i *incidents) add(format string, args ...any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.list) < maxIncidents {
		i.list = append(i.list, fmt.Sprintf(format, args...))
	}
}

// take empties the list.
func (i *incidents) take() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	list := i.list
	i.list = nil
	return list
}
