package texttable

import "fmt"

// Count writes a number of things: "1 game", "2 games".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
