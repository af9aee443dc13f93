// Package bench says what a benchmark of claim strategies measures, in which order, and what may be said of its figures.
//
// It stands beside the walk: harness/bench/claim measures, this package is what the measurements are, their file form and their statistics, and
// the reports show it. It is pure but for Save and Load: no clock, no network, no globals.
//
// Conventions. A run is one measurement of every cell; the runs are what is repeated, so that intervals are over runs and never over the
// requests of one run, which are not independent. Figures of two cells are compared in pairs, run by run, as ratios. The reference is
// measured twice under two names, and how far its two figures differ is the noise floor: an effect inside it is no effect.
package bench
