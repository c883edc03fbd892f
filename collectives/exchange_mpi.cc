// Processes that talk through MPI.
#include <mpi.h>

#include <algorithm>
#include <boost/mpi/collectives.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <boost/mpi/nonblocking.hpp>
#include <boost/serialization/array.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/split_free.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>

#include "collectives/exchange.h"
#include "isa/diagnostic.h"

// How what is told travels. std::optional is not known to this Boost.
namespace boost::serialization {

// Bindings name every field, so that one more does not compile until it is told
// too.
template <typename Archive, typename... Fields>
void All(Archive& a, Fields&... fields) {
  (void)(a & ... & fields);
}

template <typename Archive>
void serialize(Archive& a, trnemu::CallInfo& c, unsigned) {
  auto& [rank, core, kind, op, dtype, in_sbuf, in_place, dim, channel, peer, stream,
         recv_counts_known, has_rdispls, members, pairs, inactive, src_elements,
         dst_elements, rows, metadata, trigger, ticket, instruction, source] =
      c;
  All(a, rank, core, kind, op, dtype, in_sbuf, in_place, dim, channel, peer, stream,
      recv_counts_known, has_rdispls, members, pairs, inactive, src_elements,
      dst_elements, rows, metadata, trigger, ticket, instruction, source);
}

template <typename Archive>
void serialize(Archive& a, trnemu::EndedMove& m, unsigned) {
  auto& [end, start, rank, id] = m;
  All(a, end, start, rank, id);
}

template <typename Archive>
void save(Archive& a, const trnemu::Diagnostic& d, unsigned) {
  const std::string json = ToJson(d);
  a << json;
}
template <typename Archive>
void load(Archive& a, trnemu::Diagnostic& d, unsigned) {
  std::string json;
  a >> json;
  d = trnemu::FromJson(json).value_or(trnemu::Diagnostic());
}
template <typename Archive>
void serialize(Archive& a, trnemu::Diagnostic& d, unsigned version) {
  split_free(a, d, version);
}

template <typename Archive>
void save(Archive& a, const trnemu::Failure& f, unsigned) {
  const trnemu::Diagnostic d = trnemu::DiagnosticOf(f.status);
  a << f.time << f.rank << d;
}
template <typename Archive>
void load(Archive& a, trnemu::Failure& f, unsigned) {
  trnemu::Diagnostic d;
  a >> f.time >> f.rank >> d;
  f.status = trnemu::ToStatus(std::move(d));
}
template <typename Archive>
void serialize(Archive& a, trnemu::Failure& f, unsigned version) {
  split_free(a, f, version);
}

template <typename Archive>
void serialize(Archive& a, trnemu::EngineProfile& p, unsigned) {
  auto& [instructions, busy, waiting] = p;
  All(a, instructions, busy, waiting);
}

template <typename Archive>
void serialize(Archive& a, trnemu::Profile& p, unsigned) {
  auto& [end, instructions, engines, opcodes, operations, dma, read, written,
         flops] = p;
  All(a, end, instructions, engines, opcodes, operations, dma, read, written,
      flops);
}

template <typename Archive>
void serialize(Archive& a, trnemu::RunResult& r, unsigned) {
  auto& [target, outputs, timed, time, diagnostics, allowed, profile] = r;
  All(a, target, timed, time, diagnostics, allowed, profile);
  (void)outputs;  // stay where they are
}

template <typename Archive>
void save(Archive& a, const trnemu::News& n, unsigned) {
  const auto& [next, calls, ended, stalls, failure, results, texts] = n;
  const bool failed = failure.has_value();
  a << next << calls << ended << stalls << results << texts << failed;
  if (failed) a << *failure;
}
template <typename Archive>
void load(Archive& a, trnemu::News& n, unsigned) {
  auto& [next, calls, ended, stalls, failure, results, texts] = n;
  bool failed = false;
  a >> next >> calls >> ended >> stalls >> results >> texts >> failed;
  if (failed) a >> failure.emplace();
}
template <typename Archive>
void serialize(Archive& a, trnemu::News& n, unsigned version) {
  split_free(a, n, version);
}

}  // namespace boost::serialization

namespace trnemu {
namespace {

namespace mpi = boost::mpi;

// Of one message: MPI counts with int.
constexpr size_t kMessage = size_t{1} << 30;

class Mpi final : public MpiExchange {
 public:
  Mpi() : here_(OnThisHost()) {}
  ~Mpi() override {
    if (open_) Mpi::Abort(1);
  }

  int process() const override { return world_.rank(); }
  int processes() const override { return world_.size(); }
  int neighbours() const override { return here_; }

  std::vector<News> Tell(News mine) override {
    std::vector<News> all;
    mpi::all_gather(world_, mine, all);
    // As it was: with outputs, and statuses of more than a diagnostic.
    all[static_cast<size_t>(process())] = std::move(mine);
    return all;
  }

  void Swap(const std::vector<std::vector<std::byte>>& out,
            std::vector<std::vector<std::byte>>& in) override {
    std::vector<mpi::request> requests;
    for (size_t p = 0; p < in.size(); ++p) {
      ForEachMessage(in[p].size(), [&](size_t first, int n) {
        requests.push_back(
            world_.irecv(static_cast<int>(p), 0,
                         reinterpret_cast<char*>(in[p].data()) + first, n));
      });
    }
    for (size_t p = 0; p < out.size(); ++p) {
      ForEachMessage(out[p].size(), [&](size_t first, int n) {
        requests.push_back(world_.isend(
            static_cast<int>(p), 0,
            reinterpret_cast<const char*>(out[p].data()) + first, n));
      });
    }
    mpi::wait_all(requests.begin(), requests.end());
  }

  void Close() override {
    world_.barrier();
    open_ = false;
  }

  void Abort(int exit_code) override { mpi::environment::abort(exit_code); }

 private:
  template <typename Do>
  static void ForEachMessage(size_t bytes, Do message) {
    for (size_t first = 0; first < bytes; first += kMessage) {
      message(first, static_cast<int>(std::min(kMessage, bytes - first)));
    }
  }
  static int OnThisHost() {
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &host);
    int n = 1;
    MPI_Comm_size(host, &n);
    MPI_Comm_free(&host);
    return n;
  }

  // Only one thread of a process, the one that answers ranks, talks.
  mpi::environment environment_{mpi::threading::funneled};
  mpi::communicator world_;
  int here_ = 1;
  bool open_ = true;
};

}  // namespace

std::unique_ptr<MpiExchange> MpiExchange::Connect() {
  return std::make_unique<Mpi>();
}

}  // namespace trnemu
