// Package reports shows a finished run: on the terminal, as HTML, JSON, JUnit and Markdown, one format a file.
//
// It is the last stage of the walk. It decides nothing: statuses, exit codes and sentences come from harness/verdict, and a
// report can be made again from run.json alone. Every string of a run is made presentable once, at the door (see
// presentable), since keys, bodies and rows come from servers and clients under test and may hold anything.
//
// Conventions. The verdict comes first, then what broke and how to see it oneself, then the rest. A status is always a glyph
// and a word, never a colour alone. A value that is not known is a dash, never a zero. The times of a counterexample count
// from the sending of its first attempt; the report says where in the run that was.
//
// The HTML is one file without scripts and without outside requests, and its content security policy forbids both. Charts
// are SVG from this package's own templates: a drawing needs fault bands, open-ended boxes and broken time axes that plotting
// libraries do not have, and a text alternative and a data table beside each.
package reports
