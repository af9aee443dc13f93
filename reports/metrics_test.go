package reports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/idemstorm/idemstorm/harness/verdict"
)

func savedMetrics(t *testing.T, runs ...verdict.Run) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "idemstorm.prom")
	if err := SaveMetrics(path, runs...); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheMetricsOfEveryKindOfRunAreReadByPrometheusOwnParser(t *testing.T) {
	for name, run := range samples() {
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(strings.NewReader(savedMetrics(t, run)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for metric := range families {
			if !strings.HasPrefix(metric, "idemstorm_") {
				t.Errorf("%s: %s is not ours", name, metric)
			}
		}
	}
}

// A status that is missing, or two at once, would let an alarm stay silent.
func TestEachInvariantHasOneStatusInTheMetrics(t *testing.T) {
	for _, run := range []verdict.Run{violatedRun(), inconclusiveRun()} {
		text := savedMetrics(t, run)
		for _, f := range run.Verdict.Findings {
			for _, s := range statuses {
				value := "0"
				if s == f.Status {
					value = "1"
				}
				want := `idemstorm_invariant_status{invariant="` + f.Invariant + `",scenario="` + run.Scenario + `",status="` + s.String() + `"} ` + value + "\n"
				if !strings.Contains(text, want) {
					t.Errorf("not there: %s", want)
				}
			}
		}
	}
}

func TestAPercentileWithoutEnoughSamplesIsNoMetric(t *testing.T) {
	text := savedMetrics(t, cleanRun())
	if strings.Contains(text, `kind="response",quantile="0.99",scenario="duplicate-key-race",series="checkout fresh"`) {
		t.Error("12 samples have a p99")
	}
	if !strings.Contains(text, `quantile="0.99",scenario="duplicate-key-race",series="order fresh"`) {
		t.Error("6,400 samples have no p99")
	}
}
