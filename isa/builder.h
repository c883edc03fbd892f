// ProgramBuilder: how every front end makes a program.
//
// Operations are checked when they are added (a broken rule is an error of
// that call and adds nothing), tiles are placed and waits inserted by Build.
// Not thread-safe.
#ifndef TRNEMU_ISA_BUILDER_H_
#define TRNEMU_ISA_BUILDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "isa/draft.h"
#include "isa/operations.h"
#include "isa/program.h"

namespace trnemu {

struct TileAddress {
  int64_t start_partition = 0;
  int64_t byte = 0;  // in the partition
};

// What every operation takes besides its own parameters.
struct CallOptions {
  std::span<const Wait> waits;      // on the first instruction
  std::span<const Signal> signals;  // on the last
  uint32_t source = kNoSource;
};

using NamedArguments = std::vector<std::pair<std::string_view, Value>>;

class ProgramBuilder {
 public:
  enum class Sync : uint8_t { kAuto, kExplicit };
  ProgramBuilder(Target target, std::string name, int cores, Sync sync);

  Target target() const { return draft_.program.target; }
  const Hardware& hardware() const { return *hardware_; }
  const Program& program() const { return draft_.program; }
  int num_cores() const { return static_cast<int>(draft_.instructions.size()); }

  // HBM tensors. Inputs, outputs and inouts have unique names.
  absl::StatusOr<View> AddTensor(TensorKind kind, std::string name, Dtype dtype,
                                 std::span<const int64_t> shape,
                                 uint32_t source = kNoSource);
  // `bytes` must be exactly the tensor's; they are copied.
  absl::StatusOr<View> AddConstant(std::string name, Dtype dtype,
                                   std::span<const int64_t> shape,
                                   std::span<const std::byte> bytes,
                                   uint32_t source = kNoSource);
  // Tiles of the current core; shape[0] is partitions. An address pins it.
  absl::StatusOr<View> AddTile(TensorKind kind, std::string name, Dtype dtype,
                               std::span<const int64_t> shape,
                               std::optional<TileAddress> address = {},
                               uint32_t source = kNoSource);
  uint32_t AddSemaphore(std::string name = "");
  // Replica groups, or pairs, for the parameter of a collective
  // (Value::Integer of what comes back). The same ones give the same.
  int64_t AddReplicaGroups(const ReplicaGroups& groups);
  uint32_t AddSource(std::string_view file, uint32_t line,
                     std::string_view function, std::string_view label = "");

  // The core that tiles and operations go to.
  absl::Status SelectCore(int core);
  int current_core() const { return core_; }

  // A new 32-bit register of the current core.
  uint32_t AddRegister();
  // Everything added to the current core until EndLoop is its body. Bounds are
  // numbers or registers (read once, before the first iteration). `illegal` if
  // step is not positive or a bound is not of 32 bits. The counter is a
  // register that only the loop may write.
  absl::StatusOr<uint32_t> BeginLoop(const Value& lo, const Value& hi,
                                     int64_t step, uint32_t source = kNoSource);
  // Repeats while `condition` is not zero, which is tested first.
  absl::Status BeginWhile(const Value& condition, uint32_t source = kNoSource);
  absl::Status EndLoop();

  // Adds one operation; arguments by parameter name, defaults filled in.
  // An unknown name or a wrong kind is `illegal` with the nearest name.
  absl::Status Add(std::string_view operation, const NamedArguments& arguments,
                   const CallOptions& options = {});
  // A call of an operation that has its defaults, to set arguments in: all of
  // an argument's Value. Add takes it back, so that the next need not be made.
  std::unique_ptr<Call> NewCall(const OperationInfo& operation);
  absl::Status Add(std::unique_ptr<Call> call, const CallOptions& options);

  // The layers whose rules Add checks, a bit set of 1 << Layer; kDefaultLayers
  // unless set.
  void SetLayers(unsigned layers) { layers_ = layers; }
  // From now on the counter of a loop that has ended is refused: in nki a body
  // is given it by value. Otherwise it keeps its last value on the engines that
  // took part.
  void EndCounters() { counters_end_ = true; }
  // What an Add has put into the current core's draft; gives the same
  // instructions whatever is added later.
  struct Added {
    int core = 0;
    int64_t first = 0, last = 0;  // positions, less what was put before them
    uint32_t loop = 0;            // 1 + the innermost loop; 0: none
  };
  Added LastAdded() const;
  // `after` starts when `before`, which was added earlier, is complete, beyond
  // what data asks for. Both on one core, `before` in the same loop or one
  // around it (nki/api/nki/isa/__init__.py:145), else `illegal`; `before` added
  // later is `unsupported`.
  absl::Status Order(const Added& before, const Added& after);
  // Makes a tensor in HBM one of another kind.
  void SetKind(uint32_t tensor, TensorKind kind);
  // Inouts that no instruction so far writes become inputs.
  void SettleInputs();
  // Device instructions added so far, of all cores, before replication.
  int64_t CountInstructions() const;

  // Places tiles, synchronises (auto), and verifies. The builder stays usable.
  absl::StatusOr<std::shared_ptr<const Program>> Build();

 private:
  class DraftEmitter;
  absl::StatusOr<Value> IdentityFor(const Value& data, CallOptions& options,
                                    std::vector<Wait>& waits);
  uint32_t QueueSetFor(Engine owner, uint32_t queues);
  // What core_barrier waits and signals by itself (isa/builder_cores.cc): its
  // first instruction arrives, its last leaves.
  struct Meeting {
    std::vector<Wait> arriving;
    std::vector<Signal> arrived;
    std::vector<Wait> leaving;
  };
  absl::StatusOr<Meeting> MeetingOf(const Call& call,
                                    const CallOptions& options);
  struct Barrier;
  Barrier& BarrierOf(uint32_t cores);
  // The queue of the current core's collectives of a stream.
  uint32_t QueueSetOfStream(Engine owner, int64_t stream);
  // The queues of the current core's sendrecvs of a pipe, which are their own:
  // what waits for the other core holds up nothing else.
  uint32_t QueueSetOfPipe(Engine owner, int64_t pipe);
  uint16_t OperationIndex(const Call& call);
  absl::Status CheckShape(std::string_view name, Dtype dtype,
                          std::span<const int64_t> shape, bool on_chip,
                          uint32_t source) const;
  // An `illegal` status that says where.
  absl::Status Refuse(std::string_view id, std::string message,
                      uint32_t source = kNoSource) const;
  absl::Status Add(Call& call, const CallOptions& options);

  Draft draft_;
  const Hardware* hardware_;
  Sync sync_;
  unsigned layers_ = kDefaultLayers;
  int core_ = 0;
  std::vector<std::byte> data_;
  std::map<std::tuple<uint32_t, uint32_t, std::string, std::string>, uint32_t>
      source_index_;
  std::map<std::string, uint32_t, std::less<>> file_index_;
  void BeginLoop(Loop loop);
  absl::Status CheckRegisterWrites(const Call& call) const;
  // That registers are the current core's, and count no loop that has ended.
  absl::Status CheckRegister(uint32_t number, int core) const;
  absl::Status CheckRegisters(const Call& call) const;
  // That nothing is written to the data of the program.
  absl::Status CheckConstants(const Call& call) const;
  std::vector<uint32_t> LoopsAround(const Added& added) const;

  // Per core: registers made, those that count a loop, and loops that are
  // open, innermost last.
  std::vector<uint32_t> registers_;
  // Per core: how many instructions were put before all others, and added by
  // the last Add.
  std::vector<int64_t> put_before_;
  int64_t last_count_ = 0;
  uint32_t marks_ = 0;
  std::vector<std::vector<uint32_t>> counters_;  // 1 + the loop, 0: none
  bool counters_end_ = false;
  std::vector<std::vector<uint32_t>> open_loops_;
  std::unordered_set<std::string> hbm_names_;
  // By number of the operation: its position in the program's, and 1.
  std::vector<uint16_t> operation_index_;
  // Calls to use again; a copy of a builder has none.
  struct SpareCalls {
    std::vector<std::unique_ptr<Call>> calls;
    SpareCalls() = default;
    SpareCalls(const SpareCalls&) {}
  };
  SpareCalls spare_;
  // (core, dtype) -> identity tile and, in explicit mode, its semaphore.
  std::map<std::pair<int, Dtype>, std::pair<View, uint32_t>> identities_;
  // The barriers of a set of cores, a bit each: their semaphores, by core, and
  // the last barrier on each core.
  struct Barrier {
    struct Last {
      Engine engine = Engine::kUnknown;
      size_t instruction = 0;  // in the draft, the one that leaves
      bool in_loop = false;
    };
    std::map<int, uint32_t> arrivals;
    std::map<std::pair<int, Engine>, uint32_t> turns;
    std::map<int, Last> last;
  };
  std::map<uint32_t, Barrier> barriers_;
  std::map<std::tuple<int, Engine, int64_t>, uint32_t> pipes_;
  std::map<std::tuple<int, Engine, int64_t>, uint32_t> collective_streams_;
  std::set<uint32_t> pipe_sets_;  // of pipes and of collectives' streams
};

// The value a parameter has when it is not given.
Value DefaultValue(const ParameterSpec& parameter);
// The vocabulary value a name stands for, for enum parameters; None if the
// name is unknown.
Value EnumFromName(ParameterKind kind, std::string_view name);
// The names a parameter's vocabulary has, for messages.
std::vector<std::string_view> EnumNames(ParameterKind kind);
// The candidate nearest to `name` by edit distance, or "" if none is near.
std::string_view NearestName(std::string_view name,
                             std::span<const std::string_view> candidates);

}  // namespace trnemu

#endif  // TRNEMU_ISA_BUILDER_H_
