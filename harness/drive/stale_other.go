//go:build !unix

package drive

import "net"

// hasInput cannot look without waiting here: a dead connection costs one lost attempt.
func hasInput(net.Conn) bool { return false }
