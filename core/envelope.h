// The numerics envelope: how far a program's outputs move under the rounding
// choices that documents leave open (docs/envelope.md).
#ifndef TRNEMU_CORE_ENVELOPE_H_
#define TRNEMU_CORE_ENVELOPE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/run.h"

namespace trnemu {

// Numerics keys of a run that are not as in the base run, and their values.
using EnvelopeChoices = std::vector<std::pair<std::string, std::string>>;

// How far an output of one run is from that of the base run.
struct EnvelopeDistance {
  double max_abs = 0;          // infinite where one of them is not finite
  double max_ulp = 0;          // in steps of the output's dtype
  int64_t element = 0;         // of max_abs, row-major; 0 if all are equal
  double base = 0, other = 0;  // its values
  int64_t different = 0;       // elements whose bits differ
  int64_t not_finite = 0;      // elements that are finite in one run alone
};

struct EnvelopeRun {
  EnvelopeChoices choices;
  bool single = false;  // one choice alone, else a random combination
  std::vector<EnvelopeDistance> outputs;  // as EnvelopeResult::outputs
};

struct EnvelopeOutput {
  std::string name;
  Dtype dtype = Dtype::kInvalid;
  std::vector<int64_t> shape;
  double rms = 0;           // of the base run's finite elements
  EnvelopeDistance spread;  // of the run farthest from the base
  int64_t run = -1;         // which; -1: all are equal
  // Keys whose choice alone moves it, and how far; the farthest first.
  std::vector<std::pair<std::string, double>> causes;
  double relative(double distance) const {
    return distance == 0 ? 0 : distance / rms;
  }
};

struct EnvelopeResult {
  RunResult base;
  std::vector<EnvelopeRun> runs;
  std::vector<EnvelopeOutput> outputs;
};

// Runs the program as `options` say, then under each rounding choice alone,
// then under `combinations` random ones that `seed` draws. `run` runs it
// afresh: the same inputs, inout tensors included. The first fault ends it.
absl::StatusOr<EnvelopeResult> RunEnvelope(
    const std::function<absl::StatusOr<RunResult>(const RunOptions&)>& run,
    const RunOptions& options, int64_t combinations, uint64_t seed);

// What the choices are, single ones first tried: every value but that of
// `base`. Of table_error three draws.
std::vector<EnvelopeChoices> SingleChoices(const NumericsOptions& base);

// docs/envelope.md has the schema; one JSON object.
std::string EnvelopeJson(const EnvelopeResult& result);
// The table that people read; no newline at the end.
std::string EnvelopeText(const EnvelopeResult& result);

}  // namespace trnemu

#endif  // TRNEMU_CORE_ENVELOPE_H_
