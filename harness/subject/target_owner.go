package subject

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/idemstorm/idemstorm/harness/loopback"
)

// Abroad are the hosts beyond this machine that the target's requests and evidence go to, each once.
func (t Target) Abroad() (hosts []string) {
	for _, address := range t.addressed() {
		u, err := url.Parse(address)
		if err != nil {
			continue // Validate has refused it
		}
		if host := u.Hostname(); host != "" && !loopback.Is(host) && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

func (t Target) addressed() []string {
	return append(slices.Clone(t.URL), t.Database.URL, t.Evidence.HTTP.Path)
}

// Owned refuses hosts beyond this machine that are not among those that somebody has said to own, and those that he has mistyped.
func (t Target) Owned(owned []string) error {
	abroad := t.Abroad()
	for _, host := range abroad {
		if !slices.Contains(owned, host) {
			return fmt.Errorf("%s: %s is not this machine; if the service there is yours to storm, say so with --i-own-this-target %s", t.file, host, host)
		}
	}
	for _, host := range owned {
		if !slices.Contains(abroad, host) {
			return fmt.Errorf("--i-own-this-target %s: the target file does not name that host; it names %s", host, orNone(abroad))
		}
	}
	return nil
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none beyond this machine"
	}
	return strings.Join(list, ", ")
}
