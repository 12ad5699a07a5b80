package bot

import (
	"errors"

	"sparring/configs"
	"sparring/protocol"
)

// ReadConfig reads the settings from the environment, below a prefix such as
// "SPARRING". The error has a line for everything that is wrong, unreadable
// values and impossible ones alike. An instance without a name gets one.
func ReadConfig(prefix string) (Config, error) {
	var c Config
	err := configs.FromEnv(prefix, &c)
	if c.Instance == "" {
		c.Instance = protocol.InstanceID(protocol.NewID())
	}
	return c, errors.Join(err, c.Validate())
}
