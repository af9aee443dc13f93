// Package zoo holds broken variants of the reference server, each after a fault class that people ship: the right parts
// with one replaced. The harness must convict every one of them, for the invariant that it names, in the scenario made
// for it. A variant is one small file and one line of the list below. None of this is for use anywhere else.
package zoo
