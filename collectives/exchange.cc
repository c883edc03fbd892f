#include "collectives/exchange.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <tuple>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "isa/diagnostic.h"

namespace trnemu {
namespace {

// Open MPI has the first name, MPICH and its like the second.
int FromEnvironment(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names) {
    const char* value = std::getenv(name);
    int n = 0;
    if (value != nullptr && absl::SimpleAtoi(value, &n) && n >= otherwise) {
      return n;
    }
  }
  return otherwise;
}

}  // namespace

std::vector<News> ProcessExchange::Tell(News mine) {
  std::vector<News> all;
  all.push_back(std::move(mine));
  return all;
}

absl::Status ProcessExchange::Agree(std::optional<Failure> mine) {
  News news;
  news.failure = std::move(mine);
  return FirstFailure(Tell(std::move(news)));
}

absl::Status FirstFailure(const std::vector<News>& news) {
  const Failure* first = nullptr;
  for (const News& one : news) {
    if (!one.failure) continue;
    const Failure& f = *one.failure;
    if (first == nullptr ||
        std::tie(f.time, f.rank) < std::tie(first->time, first->rank)) {
      first = &f;
    }
  }
  return first == nullptr ? absl::OkStatus() : first->status;
}

absl::StatusOr<std::vector<int32_t>> SpreadRanks(const Topology& topology,
                                                 int processes) {
  const int chips = topology.chips();
  if (processes > chips) {
    Diagnostic d;
    d.category = Category::kInput;
    d.id = "option.processes";
    d.message = absl::StrCat(processes, " processes are too many: the ",
                             topology.ranks(), " ranks are on ", chips,
                             chips == 1 ? " chip" : " chips",
                             ", and the ranks of a chip stay together");
    d.remedy = absl::StrCat("start ", chips,
                            chips == 1 ? " process" : " processes or fewer");
    return ToStatus(std::move(d));
  }
  std::vector<int32_t> process(static_cast<size_t>(topology.ranks()));
  for (int r = 0; r < topology.ranks(); ++r) {
    process[static_cast<size_t>(r)] =
        static_cast<int32_t>(int64_t{topology.ChipOf(r)} * processes / chips);
  }
  return process;
}

int LaunchedProcesses() {
  return FromEnvironment({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 1);
}

int LaunchedProcess() {
  return FromEnvironment({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}, 0);
}

}  // namespace trnemu
