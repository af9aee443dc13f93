package main

import "testing"

// Whoever reads the report must come to the same exploration by the command in it.
func TestTheCommandThatExploresAgainNamesAllThatDecides(t *testing.T) {
	cmd := newExploreCommand()
	err := cmd.ParseFlags([]string{"--target", "my shop.yaml", "--crash-points", "--fault", "cut-after,cut-before", "--fault", "08006", "--out", "x"})
	if err != nil {
		t.Fatal(err)
	}
	want := "idemstorm explore --target 'my shop.yaml' --crash-points --fault cut-after,cut-before,08006"
	if got := commandAgain(cmd); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
