// --stop-at-nan: the instruction, or DMA part, where a NaN or an infinity was
// born (docs/debugging.md).
//
//   nan.produced           an element became NaN; none of the inputs that it
//                          depends on was. (-inf) - (-inf), 0 / 0, 0 * inf.
//   nan.infinity_produced  an element became infinite; none of the inputs that
//                          it depends on was infinite or NaN. 1 / 0, an
//                          overflow, a cast to a narrower type.
//
// Category limit: nothing about it is illegal; the run stops at a bound that
// the caller has set. What was infinite or NaN from the start is no birth: run
// inputs and constants of the program, and immediates and fill values (memset,
// affine_select: masks are made of -inf). Only floating-point outputs count,
// and inputs by their dtype in the instruction: bits that integer instructions
// put together are found when a float instruction has read them, as inputs.
#ifndef TRNEMU_CORE_NAN_WATCH_H_
#define TRNEMU_CORE_NAN_WATCH_H_

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/observer.h"

namespace trnemu {

class NanWatch : public Observer {
 public:
  // Everything is kept by reference. An id that options.allow holds is reported
  // to `sink`, and the run goes on.
  NanWatch(const Program& program, const RunOptions& options, FindingSink& sink)
      : program_(program), options_(options), sink_(sink) {}

  absl::Status Before(const Effect& effect) override;
  absl::Status After(const Effect& effect) override;

 private:
  // What is not finite among some values.
  struct Taint {
    bool infinite = false, nan = false;
    void Add(float value);
    void Add(const Taint& other);
  };
  // An input as it was before the effect.
  struct Input {
    std::string name;
    int64_t partitions = 1, size = 1;  // of elements, a partition
    std::vector<float> values;         // partition by partition
    Taint taint;
  };
  // Of a loaded stationary tile, by core and place in the array.
  using Place = std::tuple<size_t, int64_t, int64_t>;

  absl::Status BeforeInstruction(const Effect& effect);
  absl::Status BeforePart(const Effect& effect);
  void ReadInputs(const Effect& effect);
  void ReadNumbers(const Effect& effect);
  void ReadHidden(const Effect& effect);
  bool AddsToOutput(const Effect& effect, size_t operand) const;
  absl::Status LookAt(const Effect& effect, const Stretch& stretch,
                      int64_t flat);
  absl::Status LookAtAccumulators(const Effect& effect);
  // An element of an output, as inputs are looked up for it, and in words.
  struct Spot {
    int64_t partition = 0, element = 0;
    int64_t partitions = 1, size = 1;  // of the output
    std::string operand, where;
  };
  // What is not finite among what the element depends on.
  Taint Causes(const Spot& spot) const;
  absl::Status Report(float value, const Spot& spot, const Taint& causes);

  const Program& program_;
  const RunOptions& options_;
  FindingSink& sink_;
  std::vector<Input> inputs_;
  size_t num_inputs_ = 0;  // of those, in use
  Taint whole_;            // of all that has no place: numbers, hidden state
  bool by_element_ = false, by_lane_ = false;
  std::map<Place, Taint> loaded_;
  std::array<std::array<float, kPartitions>, 2> accumulators_{};
  std::vector<float> row_;
};

}  // namespace trnemu

#endif  // TRNEMU_CORE_NAN_WATCH_H_
