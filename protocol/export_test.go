package protocol

import "time"

// WaitFor sets how long the client waits for the answer to a first try.
func (c *Client) WaitFor(d time.Duration) { c.firstWait = d }
