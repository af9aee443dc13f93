package idemtest

// Forget makes the next call of Run in a test its first, as in a new test binary.
func Forget(test string) {
	calls.Lock()
	defer calls.Unlock()
	delete(calls.made, test)
}
