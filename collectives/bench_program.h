// The programs of collectives/bench.h, and what they must give.
#ifndef TRNEMU_COLLECTIVES_BENCH_PROGRAM_H_
#define TRNEMU_COLLECTIVES_BENCH_PROGRAM_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "collectives/bench.h"
#include "core/run.h"

namespace trnemu {

// One size of a query: how its buffer is cut, and into what shapes.
class CollectiveCase {
 public:
  // The query's groups are there, of one length.
  CollectiveCase(const CollectiveQuery& query, const CollectiveSubject& subject,
                 int64_t size);

  int64_t bytes() const;  // the size that runs
  // Bytes of inputs and outputs of one rank.
  int64_t data_bytes() const;
  // By rank of the system.
  absl::StatusOr<std::vector<std::shared_ptr<const Program>>> Programs() const;

  // Data of every rank, the same in every run.
  struct Data {
    std::vector<std::vector<std::vector<std::byte>>> bytes;  // by rank, tensor
    std::vector<Inputs> inputs;                              // refer to them
  };
  Data MakeData() const;
  // The largest difference between outputs and what they should be, and the
  // most that it may be.
  struct Error {
    double largest = 0, bound = 0;
    bool ok = true;  // no element is beyond its own bound
    void Add(double got, double want, double most);
  };
  Error Compare(const Data& data, const std::vector<RunResult>& results) const;

 private:
  // A part of the buffer, of one stream. Elements of a rank.
  struct Part {
    int64_t in = 0, out = 0;
    std::vector<int64_t> in_shape, out_shape;
  };
  struct Want {
    double value = 0, magnitude = 0;  // the sum, and that of absolute values
  };
  Part PartOf(int64_t units) const;
  absl::StatusOr<std::shared_ptr<const Program>> ProgramOf(int role) const;
  absl::Status AddCollective(class ProgramBuilder& b, int role, size_t stream,
                             const class View& in, const View& in2,
                             const View& out) const;
  // By how much rounding may change a sum: of its magnitude, and besides.
  struct Rounding {
    double relative = 0, least = 0;
  };
  Rounding RoundingOf() const;
  void CompareAllReduce(const Data& data, const std::vector<RunResult>& results,
                        Error& error) const;
  double Reduced(double a, double b) const;
  bool in_sbuf() const { return query_.memory == Space::kSbuf; }
  int64_t group_size() const {
    return static_cast<int64_t>(query_.groups[0].size());
  }
  // What position `at` of `group` has at element i of its output.
  Want WantOf(const std::vector<std::vector<float>>& values, size_t at,
              const Part& part, int64_t i) const;

  const CollectiveQuery& query_;
  const CollectiveSubject& subject_;
  std::vector<Part> parts_;
};

}  // namespace trnemu

#endif  // TRNEMU_COLLECTIVES_BENCH_PROGRAM_H_
