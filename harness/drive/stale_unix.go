//go:build unix

package drive

import (
	"crypto/tls"
	"net"
	"syscall"
)

// hasInput looks, without waiting, whether an idle connection was closed or has said something unasked. Either makes it unusable; the byte
// that is read here is not missed.
func hasInput(c net.Conn) bool {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	sc, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return true
	}
	waiting := false
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, err := syscall.Read(int(fd), b[:])
		waiting = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
		return true
	})
	return err != nil || !waiting
}
