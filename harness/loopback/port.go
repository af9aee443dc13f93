// Package loopback finds ports for the servers that a run starts, and starts again on the same port: databases, replicas, Redis.
package loopback

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"net"
	"strconv"
)

// Host is the one address that anything of a run listens on.
const Host = "127.0.0.1"

// The range lies below those that kernels take the ports of outgoing connections from (32768 and up on Linux): while a killed server is down, no
// client's connection can take its port. A client that dials a closed ephemeral port of its own machine may even reach itself.
const lowest, highest = 15000, 32000

// attempts bounds the search; a machine on which so many ports in a row are taken has none to give.
const attempts = 100

// FreePort finds a port that could be bound a moment ago. Another process may still take it first, which a start then notices, and tries
// another.
func FreePort() (int, error) {
	var last error
	for range attempts {
		offset, err := rand.Int(rand.Reader, big.NewInt(highest-lowest))
		if err != nil {
			return 0, fmt.Errorf("choose a port: %w", err)
		}
		port := lowest + int(offset.Int64())
		listener, err := net.Listen("tcp", Addr(port))
		if err == nil {
			return port, listener.Close()
		}
		last = err
	}
	return 0, fmt.Errorf("find a free loopback port: %w", last)
}

// Addr is the host:port of a port of this machine.
func Addr(port int) string { return net.JoinHostPort(Host, strconv.Itoa(port)) }
